"""Words by which a sentence is recognised as a decision, a reason, an open question, a next step, or as saying nothing.

English is covered best; German, French and Spanish have the commonest forms. A sentence of another language is none of
these. Precision comes before completeness: a missed decision is still in the context or the transcript.
"""

from __future__ import annotations

import re

_CHOOSE = (
    r"(?:use|go (?:with|for|ahead with)|stick (?:with|to)|keep|stay (?:with|on)|drop|remove|replace|switch|move|adopt"
    r"|choose|pick|call|name|rename|avoid|skip|defer|postpone|limit|restrict|support|store|put|leave|default to|start with"
    r"|treat|require|ignore|standardi[sz]e|not|never|do (?:option|approach|the|it|this|that|a|both|number|#?\d)|make)"
)
_CHOSEN = r"(?:decided|agreed|chose|chosen|settled|picked|opted|concluded|went with|gone with|selected|ruled out)"


def _pattern(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{one})" for one in alternatives), re.IGNORECASE)


# What either of the two says when it is decided.
_DECIDED = _pattern(
    rf"\b(?:we|i|they|team)(?:['’]ve| have| had)? (?:already |also |both |just |finally )?{_CHOSEN}\b",
    rf"\b(?:it was|was|is|been) (?:decided|agreed|settled)\b",
    r"^(?:the )?(?:final )?(?:decision|resolution|verdict|conclusion)(?: is| was)?\s*[:–—-]",
    r"\b(?:the|our|my) (?:final )?(?:decision|choice) (?:is|was) ",
    r"\bwe(?:['’]ll| will| are going to|['’]re going to) (?:just |always |only |still )?(?!see\b|need\b|have\b)"
    + _CHOOSE,
    r"\b(?:going|sticking|staying) with\b",
    r"\b(?:entschieden|beschlossen|wir (?:nehmen|verwenden|nutzen|benutzen|bleiben bei|behalten)|nehmen wir"
    r"|lass(?:t)? uns|(?:nous avons|on a|j['’]ai) (?:décidé|choisi)|on (?:garde|prend|utilise|va utiliser|part sur)"
    r"|(?:hemos|he) decidido|decidimos|usaremos|vamos a usar|nos quedamos con)\b",
)
# What only the person decides: wishes, rules and choices in the form of a request.
_PERSON = _pattern(
    rf"\b(?:let['’]?s|lets|let us) (?:just |actually |also |instead |please |then |definitely )?{_CHOOSE}\b",
    rf"^(?:(?:ok(?:ay)?|yes|yeah|yep|no|nah|so|and|but|also|actually|instead|please|right|sure|great|good|cool|then|hmm)"
    rf"[,.!]* )*(?:please )?(?:use|go with|stick (?:with|to)|keep|drop|prefer|avoid|default to|rename|never|always"
    rf"|only (?:use|support|allow)|don['’]?t (?:use|add|store|support|include|call|need|want|keep|make|commit|ever|rely"
    rf"|put|create|change|bother|worry|do)|do not|no need (?:to|for)|skip|defer|leave)\b",
    r"\b(?:i|we)(?:['’]d| would)? (?:really |strongly )?(?:prefer|rather|want (?:it |this |that |them |us |you )?to (?:always|never"
    r"|only|use|keep|be|stay|have)|don['’]?t want|do not want|only want|insist)\b",
    r"\b(?:should|must|shall|has to|have to|needs? to) (?:(?:also|still|simply|just) )?(?:always|never|only|not\b|be\b|use|stay|remain|live|go in"
    r"|default|match|have|fail|return|take precedence|follow|support|work (?:on|with|in))",
    r"\b(?:shouldn['’]?t|mustn['’]?t|can['’]?t have)\b",
    r"\b(?:from now on|going forward|as a rule|non-?negotiable|out of scope|in scope|not in scope|for (?:now|v1|this (?:pr|phase|release)),"
    r"|the rule is|the plan is|the approach is)\b",
    r"\b(?:stattdessen|anstatt|plutôt que|à la place|en lugar de|en vez de|niemals|immer|toujours|jamais|siempre|nunca)\b",
    r"\b(?:instead of|rather than)\b",
)
# What the assistant says of its own choice.
_ASSISTANT = _pattern(
    r"\bi(?:['’]ve| have)? (?:deliberately|intentionally|explicitly|kept|left|used|made|put|chose|dropped|removed|switched|replaced|went)\b.*"
    r"\b(?:instead of|rather than|because|since|so that|to avoid|on purpose|deliberately|intentionally|as you (?:asked|wanted|said))\b",
    r"\bi(?:['’]ve| have) (?:decided|chosen|opted|settled|gone with)\b|\bi (?:decided|chose|opted|settled on|went with)\b",
    r"\b(?:design|key|architecture|architectural) decisions?\b.*[:–—]",
)
_UNDECIDED = _pattern(
    r"\b(?:could|might|may|maybe|perhaps|possibly|whether|would you|do you want|should (?:i|we)|shall (?:i|we)|want me to"
    r"|if you (?:want|prefer|like|['’]d)|let me know|not sure|unclear|tbd|to be decided|undecided|i think we|either)\b",
    r"\b(?:option|alternative|approach) (?:[a-d1-9]|one|two|three)\s*[:(–—-]",
    r"^(?:if|when|unless|suppose|imagine|what if|for example|e\.g\.)\b",
    r"\b(?:hasn['’]?t|haven['’]?t|not|never|before|once|when|until|as if) (?:been |we |you |i )*(?:decided|agreed|settled|chosen)\b",
    r"\bshould (?:be (?:able|fine|ok|okay|good|enough|possible|there|safe|ready|straightforward|easy|visible)|have been|work now|now)\b",
    r"\bneeds? to be (?:fixed|done|checked|tested|reviewed|updated|addressed)\b",
)
_REASON = _pattern(
    r"\bbecause\b|\bsince (?:the|we|it|this|that|they|our|there|both|each|i)\b|\bso that\b|\bdue to\b|\bthe reason\b"
    r"|\bin order to\b|\botherwise\b|\btrade-?offs?\b|\bthat(?:['’]s| is) why\b|\bto avoid\b|\bthe (?:root )?cause\b|\bwhich means\b",
    r"\b(?:weil|damit|deshalb|deswegen|sonst|parce que|puisque|sinon|afin de|porque|ya que|así que|para evitar)\b",
)
_OPEN = _pattern(
    r"\b(?:open question|not (?:yet )?(?:sure|clear|decided)|unclear|undecided|to be decided|tbd|still (?:open|unknown|unsure)"
    r"|don['’]?t know (?:yet|if|whether|why|how)|need to (?:decide|figure out|find out|clarify)|remains to be|unresolved)\b",
    r"\b(?:noch (?:offen|unklar)|offene frage|pas encore décidé|reste à|por decidir|pendiente de)\b",
)
_NEXT = _pattern(
    r"^(?:next|next steps?|todo|to do|remaining|follow-?ups?|still to do|later|tomorrow)\b\s*[:,–—-]",
    r"\bnext steps?\b|\btodo\b|\bfollow-?up\b|\bstill (?:need|have|needs|has) to\b|\bremaining (?:work|step|task|item)s?\b"
    r"|\b(?:in|as) a (?:later|follow-?up|separate) (?:pr|step|phase|commit|change)\b"
    r"|\b(?:i|we)(?:['’]ll| will) .*\b(?:tomorrow|later|next week|next time|afterwards|next)\b|\bnext,? (?:i|we|you)\b",
    r"\b(?:nächste(?:r|n)? schritt|als nächstes|prochaine étape|ensuite,|próximo paso|siguiente paso)\b",
)
_REJECTED = re.compile(
    r"^(?:(?:hmm+|ok(?:ay)?|well|so|oh|wait|sorry)[,.! ]+)*(?:no\b(?! (?:problem|worries|need|rush))|nope|nah|don['’]?t\b|do not\b"
    r"|that['’]?s (?:not|wrong|incorrect)|this is (?:not|wrong)|wrong\b|not (?:quite|what|like)|revert|undo|stop\b|i disagree"
    r"|i don['’]?t (?:like|want|think|agree)|why (?:did|would|are) you|you (?:didn['’]?t|should(?:n['’]?t| not)|misunderstood)"
    r"|nein\b|falsch|non\b|pas ça)",
    re.IGNORECASE,
)
# An assistant's account of what it is about to do, and words of courtesy: true at the time, of no use afterwards.
_PASSING = re.compile(
    r"^(?:(?:now|ok(?:ay)?|great|good|perfect|excellent|right|sure|alright|first|next|then|so|and|also|hmm|wow|haha|yeah|yes|done)[,!.]? )*"
    r"(?:let me\b|let['’]?s (?:see|look|check|run|start|continue|try|fix|test|verify|examine|read|update|create|add)\b"
    r"|i(?:['’]ll| will|['’]m going to| need to| should|['’]m|['’]d) (?:now |first |also |start |just |then |quickly )*(?:look|check|read|search|run|examine|explore"
    r"|start|begin|take|update|create|fix|add|verify|test|implement|write|continue|investigate|review|find|use the|launch|help|go ahead|do that|be happy)"
    r"|(?:now )?(?:checking|looking|reading|running|searching|updating|fixing|starting|waiting|continuing|working)\b"
    r"|(?:you['’]re|you are) (?:absolutely |completely |totally )?(?:right|welcome|correct)|good (?:catch|point|question|idea|morning)"
    r"|(?:thanks|thank you|sounds good|got it|understood|will do|no problem|of course|glad|happy to|i see|makes sense|perfect|hello|hi|hey)\b.{0,40}$"
    r"|(?:here(?:['’]s| is| are)\b.*:$)|(?:would you like|do you want|want me to|should i|shall i|let me know|anything else)\b)",
    re.IGNORECASE,
)
# Words of which a request consists that names no subject: a greeting, consent, "continue".
_EMPTY_WORDS = frozenset(
    "a again ahead all and are as carry commit continue cool danke do doing done everyone fine for gracias great go good"
    " hallo hello hey hi hola how i is it ja k keep going lgtm like long looks me merci merge morning afternoon evening moin"
    " nein next nice no non nope now ok okay on oui please perfect proceed push resume retry right salut see si sí sounds stop"
    " sure test thank thanks that the then there this thx time to try up wait weiter what what's whats with y yeah yep yes yo you"
    " your sigue continuez continúa so well been have day today".split()
)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")


def decides_as_person(text: str) -> bool:
    """Whether a sentence that the person said is a decision."""
    return not _is_undecided(text) and bool(_DECIDED.search(text) or _PERSON.search(text))


def decides_as_assistant(text: str) -> bool:
    """Whether a sentence that the assistant said reports a decision."""
    return not _is_undecided(text) and bool(_DECIDED.search(text) or _ASSISTANT.search(text))


def rejects(text: str) -> bool:
    """Whether a turn of the person rejects what the assistant said before."""
    return bool(_REJECTED.match(text.lstrip()))


def gives_reason(text: str) -> bool:
    """Whether a sentence says why."""
    return bool(_REASON.search(text))


def is_open(text: str) -> bool:
    """Whether a sentence says that something is not decided or not known."""
    return bool(_OPEN.search(text))


def is_next_step(text: str) -> bool:
    """Whether a sentence says what is to be done later."""
    return bool(_NEXT.search(text))


def is_passing(text: str) -> bool:
    """Whether a sentence is only about the course of the conversation."""
    return bool(_PASSING.match(text.lstrip("*_ ")))


def is_empty_request(text: str) -> bool:
    """Whether what a person says names no subject: a greeting, "continue", "yes"."""
    return all(word.lower().replace("’", "'") in _EMPTY_WORDS for word in _WORD.findall(text))


def _is_undecided(text: str) -> bool:
    return text.rstrip("\"')*_ ").endswith(("?", "？")) or bool(_UNDECIDED.search(text))
