"""Words by which a sentence is recognised as a decision, a reason, an open question, a next step, or as saying nothing.

English is covered best; German, French and Spanish have the commonest forms. A sentence of another language is none of
these. Precision comes before completeness: a sentence that is missed here may still be in the context.
"""

from __future__ import annotations

import re

_ADVERB = r"(?:(?:already|also|always|both|definitely|finally|instead|just|only|please|really|simply|still|then) )*"
_CHOOSE = (
    r"(?:use|go (?:with|for|ahead with)|stick (?:with|to)|keep|stay (?:with|on)|drop|remove|replace|switch|move"
    r"|adopt|have"
    r"|choose|pick|call|name|rename|avoid|skip|defer|postpone|limit|restrict|support|store|put|leave|default to"
    r"|make|write"
    r"|start with|treat|require|ignore|standardi[sz]e|not|never|do (?:option|approach|it|this|that|both|number"
    r"|#?\d))\b"
)
_CHOSEN = r"(?:decided|agreed|chose|chosen|settled|picked|opted|concluded|went with|gone with|selected|ruled out)"
_OPENING = (
    r"^(?:(?:ok(?:ay)?|yes|yeah|yep|yup|no|nah|so|and|but|also|actually|instead|please|right|sure|great|good"
    r"|cool|then"
    r"|m+k|hmm+|plus|lastly|well)[,.!]* )*"
)


def _pattern(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{one})" for one in alternatives), re.IGNORECASE)


# What either of the two says when it is decided.
_DECIDED = _pattern(
    rf"\b(?:we|i|they|team)(?:['’]ve| have| had)? {_ADVERB}{_CHOSEN}\b",
    r"\b(?:it was|was|is|been) (?:decided|agreed|settled)\b",
    r"^\W*(?:the )?(?:final )?(?:decision|conclusion)(?: is| was)?\s*[:–—-]",
    r"\b(?:the|our|my) (?:final )?(?:decision|choice) (?:is|was) (?!how|whether|up to|yours|genuinely)",
    rf"\bwe(?:['’]ll| will| are going to|['’]re going to) {_ADVERB}{_CHOOSE}",
    r"\b(?:sticking|staying) with\b|\b(?:i['’]m|we['’]re|i am|we are) going with\b(?! this)|^\W*going with\b",
    r"\b(?:entschieden|beschlossen|wir (?:nehmen|verwenden|nutzen|benutzen|bleiben bei|behalten)|nehmen wir)\b",
    r"\b(?:lass(?:t)? uns|stattdessen|(?:nous avons|on a|j['’]ai) (?:décidé|choisi)|on (?:garde|prend|utilise"
    r"|part sur))\b",
    r"\b(?:(?:hemos|he) decidido|decidimos|usaremos|vamos a usar|nos quedamos con)\b",
)
# What only the person decides: choices, rules and wishes.
_PERSON = _pattern(
    rf"\b(?:let['’]?s|lets|let us) {_ADVERB}{_CHOOSE}",
    _OPENING + r"(?:use|go with|stick (?:with|to)|keep|drop|prefer|avoid|default to|rename|never|always|defer|leave)\b",
    _OPENING + r"only (?:use|support|allow|show|run)\b|\b(?:be|make) sure (?:to (?:keep|use|never|always)"
    r"|.* (?:only|always|never) )",
    _OPENING
    + r"(?:don['’]?t|do not) (?:use|add|store|support|include|call|keep|make|commit|ever|rely|put|create|change)\b",
    r"\b(?:i|we)(?:['’]d| would)? (?:really |strongly )?(?:prefer|rather|insist)\b|\b(?:don['’]?t|do not"
    r"|only) want\b",
    r"\bwe (?:also |only |just )?want (?!me\b|you to (?:check|look|see|tell|explain))",
    r"\b(?:we|it|they|this|that|there|these|those|each one|users?) should (?!work\b|i\b|we\b|it\b|have been\b)",
    r"\b(?:should|must|shall|needs? to|has to|have to) (?:(?:also|still|simply|just) )?(?:always|never|only|not"
    r"|be|use|stay"
    r"|remain|live|go in|default|match|have|fail|return|take precedence|follow|support|work (?:on|with))\b",
    _OPENING
    + r"(?:limit|cap|raise|lower|increase|decrease|reduce|set|shorten|extend)\b.* to (?:\d|at (?:most|least)\b)",
    r"\bshouldn['’]?t\b|\bmustn['’]?t\b|\b(?:doesn['’]?t|does not|don['’]?t) belong\b|\bbelongs? (?:in|on|to)\b",
    r"\b(?:from now on|going forward|as a rule|non-?negotiable|out of scope|not in scope|the rule is|for now"
    r"|for v1)\b",
    r"^i(?:['’]ve| have)? (?:got rid of|switched|removed|renamed|replaced|dropped)\b",
    r"\b(?:niemals|toujours|jamais|siempre|nunca|plutôt que|en lugar de|en vez de)\b",
)
# What the assistant says of its own choice.
_OWN = r"(?:kept|left|used|made|put|chose|dropped|removed|switched|replaced|went|avoided)"
_ASSISTANT = _pattern(
    rf"\bi(?:['’]ve| have)? {_OWN}\b.*\b(?:instead of|rather than|because|since|so that|to avoid|on purpose"
    rf"|as you asked)\b",
    rf"\bi (?:deliberately|intentionally|explicitly|purposely) \W*(?:{_OWN}|did(?:n['’]?t| \W*not\b))",
    rf"\b{_OWN}\b.*\b(?:deliberately|intentionally)\b",
    r"\bdeliberately (?:preserved|left|kept|omitted|avoided|skipped)\b",
)
# Signs that nothing is decided, or that somebody judges a decision instead of making it.
_UNDECIDED = _pattern(
    r"\b(?:next (?:week|month|sprint|quarter|time)|tomorrow|later)\b.* (?:should|could|can|need to|have to) (?:look|see"
    r"|check|discuss|talk|think|decide)\b",
    r"\b(?:could|might|may|maybe|perhaps|possibly|whether|would you|do you want|should (?:i|we)|shall (?:i|we)"
    r"|want me to)\b",
    r"\b(?:if you (?:want|prefer|like|['’]d)|let me know|not sure|unclear|tbd|to be decided|undecided|either)\b"
    r"|\bi think we\b",
    r"\b(?:option|alternative|approach) (?:[a-d1-9]|one|two|three)\s*[:(–—-]",
    r"^(?:use gh\b|use the (?:command|tool)|(?:can|will|should)(?:n['’]?t)? (?:you|we)\b|explain|tell me|show me)",
    r"\byet, just\b",
    r"^(?:if|when|unless|suppose|imagine|what|why|how|is|are|does|do|did|for example"
    r"|e\.g\.)\b(?! not\b)(?!.*\b(?:should|must)\b)",
    r"\b(?:hasn['’]?t|haven['’]?t|not|never|before|until|once|as if) (?:been |we |you |i )*(?:decided|agreed"
    r"|settled|chosen)\b",
    r"\bshould (?:resolve|be (?:able|fine|ok|okay|good|enough|possible|there|safe|ready|easy)|not be needed|have|work"
    r"|now)\b(?! (?:a|an|the)\b)",
    r"\bmust be (?:off|wrong|broken|missing)\b|\bwe should pick\b",
    r"\bneeds? to be (?:fixed|done|checked|tested|reviewed|updated|addressed)\b",
    r"\b(?:good|excellent|great|nice|smart|sound|sensible|standout)[\w\s-]{0,20} (?:decision|choice)",
)
# What follows these words was decided, whatever it says: "We decided that a loan may be renewed."
_SETTLED = _pattern(
    r"\b(?:we|i|they|team)(?:['’]ve| have| had)? (?:all |both )?(?:decided|agreed)(?: (?:that|to|on|against)\b|:)"
)
_REASON = _pattern(
    r"\bbecause\b|\bsince (?:the|we|it|this|that|they|our|there|both|each|i)\b|\bso that\b|\bdue to\b|\bthe reason\b",
    r"\bin order to\b|\botherwise\b|\btrade-?offs?\b|\bthat(?:['’]s| is) why\b|\bto avoid\b"
    r"|\b(?:root )?cause (?:is|was)\b",
    r"\b(?:weil|damit|deshalb|deswegen|sonst|parce que|puisque|sinon|afin de|porque|ya que|así que|para evitar)\b",
)
_OPEN = _pattern(
    r"\b(?:open question|not (?:yet )?(?:sure|clear|decided)|unclear|undecided|to be decided|tbd)\b",
    r"\b(?:still (?:open|unknown|unsure)|remains to be|unresolved|need to (?:decide|figure out|find out|clarify))\b",
    r"\b(?:don['’]?t|do not) know (?:yet|if|whether|why|how)\b",
    r"\b(?:noch (?:offen|unklar)|offene frage|pas encore décidé|reste à|por decidir|pendiente de)\b",
)
_NEXT = _pattern(
    r"^\W*(?:next|next steps?|todo|to do|remaining|follow-?ups?|still to do|later|tomorrow)\b\s*[:,–—-]",
    r"\bnext steps? (?:is|are|would|will)\b|\btodo\b|\bstill (?:need|have|needs|has) to\b",
    r"\bremaining (?:work|steps?|tasks?|items?)\b|\b(?:in|as) a (?:\w+ )?(?:later|follow-?up|separate) (?:pr"
    r"|step|phase|commit)\b",
    r"\b(?:i|we)(?:['’]ll| will) .*\b(?:tomorrow|later|next week|next time|afterwards)\b|\bas a \w* ?follow-?up\b",
    r"\b(?:next (?:week|month|sprint|quarter)|tomorrow)\b.* (?:should|need to|have to|must|want to|['’]ll|will)\b",
    r"\b(?:nächste[rn]? schritt|als nächstes|prochaine étape|ensuite,|próximo paso|siguiente paso)\b",
)
_REJECTED = re.compile(
    r"(?:(?:hmm+|ok(?:ay)?|well|so|oh|wait|sorry)[,.! ]+)*(?:no\b(?! (?:problem|worries|need|rush))|nope|nah"
    r"|do(?:n['’]?t| not)\b"
    r"|(?:that['’]?s|this is) (?:not|wrong|incorrect)|wrong\b|not (?:quite|what|like)|revert|undo|stop\b|i disagree"
    r"|i don['’]?t (?:like|want|think|agree)|why (?:did|would|are) you|you (?:didn['’]?t|should(?:n['’]?t| not)"
    r"|misunderstood)"
    r"|nein\b|falsch|non\b|pas ça)",
    re.IGNORECASE,
)
# The assistant proposes something of its own.
_PROPOSED = _pattern(
    r"\bi(?:['’]d| would)? (?:suggest|propose|recommend|advise)\b(?! (?:reading|looking|checking|running|starting))",
    r"\bmy (?:recommendation|suggestion|proposal|advice) (?:is|would be)\b",
    r"\b(?:ich (?:schlage|empfehle)|je (?:propose|recommande|suggère)|(?:propongo|recomiendo|sugiero))\b",
)
# A turn of the person that begins so accepts what the assistant said before.
_ACCEPTED = re.compile(
    r"(?:(?:hmm+|oh|well|ah)[,.! ]+)*(?:ok(?:ay)?|yes|yeah|yep|yup|sure|agreed?|sounds (?:good|great|fine)|perfect"
    r"|great|good|nice|fine|makes sense|lgtm|go (?:ahead|for it|with (?:it|that|this))|do (?:it|that|this|so)\b"
    r"|let['’]?s do|exactly|ja|gut|einverstanden|oui|d['’]accord|sí|vale|de acuerdo)\b"
    r"(?![,.! ]*(?:but|aber|mais|pero)\b)",
    re.IGNORECASE,
)
# An account of what one is about to do, and words of courtesy: true at the time, of no use afterwards.
_DOING = (
    r"(?:look|check|read|search|run|examine|explore|start|begin|take|update|create|fix|add|verify|test|implement"
    r"|write"
    r"|continue|investigate|review|find|launch|help|go ahead|do that|be happy|see|try)"
)
_PASSING = re.compile(
    r"[*_ ]*(?:(?:now|ok(?:ay)?|great|good|perfect|excellent|right|sure|alright|first|next|then|so|and|also|hmm"
    r"|wow|haha|yeah"
    r"|yes|done)[,!.]? )*"
    rf"(?:let me\b|let['’]?s {_DOING}\b"
    rf"|i(?:['’]ll| will|['’]m going to| need to| should|['’]m|['’]d) (?:(?:now|first|also|just|then"
    rf"|quickly) )*{_DOING}"
    r"|(?:checking|looking|reading|running|searching|updating|fixing|starting|waiting|continuing|working)\b"
    r"|(?:you['’]re|you are) (?:absolutely |completely |totally )?(?:right|welcome|correct)"
    r"|good (?:catch|point|question|idea|morning)"
    r"|(?:thanks|thank you|sounds good|got it|understood|will do|no problem|of course|glad|happy to|i see"
    r"|makes sense|perfect"
    r"|hello|hi|hey)\b.{0,40}$"
    r"|here(?:['’]s| is| are)\b.*:$|(?:would you like|do you want|want me to|should i|shall i|let me know"
    r"|anything else)\b)",
    re.IGNORECASE,
)
# Words of which a request consists that names no subject: a greeting, consent, "continue".
_EMPTY_WORDS = frozenset(
    "a again ahead all and are as been carry commit continue cool danke day do doing done everyone fine for from"
    " go good"
    " gracias great have hallo hello hey hi hola how i is it ja k keep going left off lgtm like long looks me"
    " merci merge"
    " morning afternoon evening moin nein next nice no non nope now ok okay on oui please perfect proceed push"
    " resume retry"
    " right salut see si sí so sounds stop sure test thank thanks that the then there this thx time to today try"
    " up wait"
    " weiter well what what's whats where with y yeah yep yes yo you your sigue continuez continúa".split()
)
# A turn of the person that begins so is about something else than the one before.
_OTHER_SUBJECT = re.compile(
    r"\W*(?:(?:ok(?:ay)?|so|now|alright|right|great|good|perfect|thanks|cool|done)[,.! ]+){0,3}"
    r"(?:(?:this is )?(?:completely |totally )?unrelated\b"
    r"|(?:a |on a |one )?(?:completely |totally )?(?:different|another|new|separate|other|next)"
    r" (?:topic|subject|question|task|issue|thing|matter)(?: now)?\s*[:,.–—-]"
    r"|(?:now )?(?:for |to )?something (?:else|(?:completely |totally )?different)\b"
    r"|(?:switching|changing) (?:gears|topics?|subjects?|the (?:topic|subject)|to (?:a|another|the next)\b)"
    r"|let['’]?s (?:switch (?:gears|topics?|to (?:another|a different))|move on to|change the (?:topic|subject))\b"
    r"|(?:ein )?(?:anderes|neues) thema\b|(?:jetzt )?(?:zu )?etwas (?:ganz )?anderes\b|autre (?:sujet|chose)\b"
    r"|changement de sujet\b|otro tema\b|otra cosa\b|换个话题|另一个问题|別の(?:話|質問|件))",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")


def decides_as_person(text: str) -> bool:
    """Whether a sentence that the person said is a decision."""
    return not _is_undecided(text) and bool(_DECIDED.search(text) or _PERSON.search(text))


def decides_as_assistant(text: str) -> bool:
    """Whether a sentence that the assistant said reports a decision."""
    return (
        not text.rstrip("*_ ").endswith(":")
        and not _is_undecided(text)
        and bool(_DECIDED.search(text) or _ASSISTANT.search(text))
    )


def rejects(text: str) -> bool:
    """Whether a turn of the person rejects what the assistant said before."""
    return bool(_REJECTED.match(text.lstrip()))


def accepts(text: str) -> bool:
    """Whether a turn of the person accepts what the assistant said before."""
    return bool(_ACCEPTED.match(text.lstrip())) and not rejects(text)


def proposes(text: str) -> bool:
    """Whether a sentence of the assistant proposes something; once accepted, it is a decision."""
    return not text.rstrip("*_ ").endswith((":", "?")) and bool(_PROPOSED.search(text))


def gives_reason(text: str) -> bool:
    """Whether a sentence says why."""
    return bool(_REASON.search(text))


def is_open(text: str) -> bool:
    """Whether a sentence says that something is not decided or not known."""
    return bool(_OPEN.search(text))


def changes_subject(text: str) -> bool:
    """Whether a turn of the person says that it is about something else than the one before."""
    return bool(_OTHER_SUBJECT.match(text))


def is_next_step(text: str) -> bool:
    """Whether a sentence says what is to be done later."""
    return bool(_NEXT.search(text))


def is_passing(text: str) -> bool:
    """Whether a sentence is only about the course of the conversation."""
    return bool(_PASSING.match(text))


def is_empty_request(text: str) -> bool:
    """Whether what a person says names no subject: a greeting, "continue", "yes"."""
    return all(word.lower().replace("’", "'") in _EMPTY_WORDS for word in _WORD.findall(text))


def _is_undecided(text: str) -> bool:
    if text.rstrip("\"')*_ ").endswith(("?", "？")):
        return True
    settled = _SETTLED.search(text)
    return bool(_UNDECIDED.search(text[: settled.end()] if settled else text))
