"""Anchors: what of a memory stands in the code of its workspace, and whether it still does.

A text names paths, symbols, commands, options and versions. When a memory is stored, those that are found in the tree
are kept with it: its anchors, beside the commit and the branch that were checked out. What is not found then is no
anchor, so later nothing is said of it. When the memory is recalled, each anchor is looked up where it was:

- ``verified``: it is there;
- ``changed``: the named file is there with another content;
- ``gone``: the named file or folder is not there;
- ``not_found``: the word is neither in its file nor in any other file of the code.

Precision comes first. Nothing is said without the tree (a gateway, another project), for a commit that the repository
does not have, and of what is missing while another branch is checked out that may never have had it; nor of what could
not be looked up in time. The files of git are read, git is never run. Nothing here changes a score or hides a memory.

``words``: what in a text may be an anchor. Pure.
``anchor``: an anchor as a value and as the text that is stored; what follows from what was found. Pure.
``budget``: how long it may take.
``repository``: commit and branch, and which commit came first, from git's files.
``tree``: the files of the workspace, read within limits of size and time; those in which versions and tasks stand.
``taking``: the anchors of a memory that is stored.
``checking``: what has become of the anchors of memories.
"""
