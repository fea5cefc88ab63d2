"""The words by which a turn's part in a conversation is told, in ten languages: one table.

A beat's shape (who spoke, what was changed, what came next) needs no language. These words say the rest: that something
was done, is only intended, was wrong, is accepted. What is missing here makes a summary shorter, not wrong.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Literal

Part = Literal["done", "intends", "retracts", "disputes", "concedes", "accepts", "continues", "orders", "upkeep", "fails", "wishes", "addresses", "other"]

_OPENING = (
    r"\W*(?:(?:ok(?:ay)?|oh|ah|yes|yeah|yep|so|and|now|then|also|alright|right|great|good|nice|cool|perfect|thanks"
    r"|please"
    r"|well|finally|however|sure|but|h+m+|sorry|thinking again|gut|ja|also|bitte|bien|oui|bon|vale|sí|certo|sim"
    r"|хорошо|да|好的?|はい|네)\b[,.:! ]*){0,4}"
)
_POLITE = (
    r"(?:(?:can|could|would|will) (?:you|we) (?:please |also |now |just )?|i(?:['’]d| would) like (?:you |it "
    r"|us )?to "
    r"|i['’]d like |i(?: do)?(?: also)? want (?:you )?(?:to )?|let['’]?s |i think (?:we should )?|we should "
    r"|so i think |want me to |would you like me to |(?:should|shall) i (?:also )?|do you want me to |soll ich "
    r"|voulez-vous que je |quieres que |quer que eu |vuoi che |需要我"
    r"|(?:kannst|könntest) du (?:bitte )?|ich (?:möchte|will) |(?:peux|pourrais)[- ]tu |je (?:voudrais|veux) |puedes "
    r"|podrías |quiero |puoi |vorrei |você pode |quero |можешь |я хочу |请|帮我|我想)?"
)

# Each list: English, German, French, Spanish, Portuguese, Italian, Russian, Chinese, Japanese, Korean.
_AT_START: dict[Part, tuple[str, ...]] = {
    # The assistant tells what it is about to do.
    "intends": (
        r"(?:now,? |next,? |first,? |then,? |perfect[.!] |good[.!] )*(?:let me|let['’]s|let us|i['’]ll|i will"
        r"|i['’]m going to|i am going to"
        r"|i need to|i should|i can|here['’]s|here are|would you|do you want|want me|should i|shall i|i see"
        r"|you (?:can|could|may|might|should)|this should|now (?:i|we|for|that|update|fix|add|remove|replace|check|write"
        r"|create|run|verify|look|implement|make|move|delete|rename|build|test)|checking"
        r"|looking|reading|running|wait)\b",
        r"(?:ich werde|lass mich|ich schaue|soll ich)\b", r"(?:je vais|laissez?-moi|voulez-vous|veux-tu)\b",
        r"(?:voy a|vamos a|déjame|quieres que)\b", r"(?:vou|vamos|deixe-me|quer que)\b",
        r"(?:ora |adesso )?(?:vado a|lasciami|fammi|vuoi che)\b",
        r"(?:сейчас|давай(?:те)?|я (?:проверю|посмотрю|сделаю))\b",
        r"(?:我(?:将|先|会|来|准备)|让我|接下来|需要我)", r"(?:まず|これから|それでは)", r"(?:먼저|이제|제가)",
    ),
    # The person takes back what was asked or done before.
    "retracts": (
        r"(?:(?:ok|well|sure|yes|yeah)[,.! ]+(?:but|wait)\b|(?:h+m+[,.! ]+)?no\b(?! (?:problem|worries|need|rush"
        r"|longer))|nope|nah|wait\b|actually|instead"
        r"|revert|undo|stop\b|wrong\b|thinking again|on second thoughts?|never ?mind|forget (?:it|that)|scratch that"
        r"|i disagree"
        r"|i don['’]?t (?:like|agree)|i changed my mind|why (?:can['’]?t|don['’]?t|not)\b)",
        r"(?:nein|doch nicht|falsch|stopp|ja,? aber|warum nicht|lieber)\b",
        r"(?:non|pas ça|faux|attends?|oui,? mais|finalement|plutôt|pourquoi pas)\b",
        r"(?:no|espera|sí,? pero|mejor|en realidad|por qué no)\b",
        r"(?:não|espera|sim,? mas|melhor|na verdade|por que não)\b",
        r"(?:no|aspetta|sì,? ma|anzi|in realtà|perché non)\b",
        r"(?:нет|не так|неверно|стоп|да,? но|лучше|почему не)\b",
        r"(?:不对|不是|不要|不行|错了|为什么不)", r"(?:いや|いいえ|違|待って|やっぱり|なぜ.{0,12}ない)", r"(?:아니|틀렸|잠깐)",
    ),
    # The person doubts the answer before, but not what was asked.
    "disputes": (
        r"(?:h+m+|u+h+m*|huh|sorry|but\b|(?:that|this|it)(?:['’]?s| is) (?:not|wrong|incorrect|still)|not (?:quite"
        r"|what|like)"
        r"|why (?:did|would|are|is)\b|you (?:didn['’]?t|should(?:n['’]?t| not)|misunderstood|forgot)"
        r"|it (?:didn['’]?t|doesn['’]?t|still|named|only)\b|one (?:issue|problem)\b|still )",
        r"(?:aber|warum hast|moment)\b", r"(?:mais|en fait|pourquoi as)\b", r"(?:pero|mal|por qué has)\b",
        r"(?:mas|errado|por que você)\b",
        r"(?:ma|sbagliato|perché hai)\b", r"(?:но|подожди|почему ты)\b", r"(?:等等|等下|但是|为什么)", r"(?:でも|なぜ)",
        r"(?:하지만|그런데|왜)",
    ),
    # The person takes what the assistant offered.
    "accepts": (
        r"(?:ok(?:ay)?|yes|yeah|yep|yup|sure|agreed?|sounds (?:good|great|fine)|perfect|great|good|nice|fine"
        r"|makes sense|lgtm"
        r"|go (?:ahead|for it)|do (?:it|that|this|so)|please do|exactly|correct)\b",
        r"(?:ja|gut|einverstanden|genau|mach das|passt)\b", r"(?:oui|d['’]accord|vas-y|parfait|exactement)\b",
        r"(?:sí|vale|de acuerdo|adelante|perfecto|hazlo)\b", r"(?:sim|certo|de acordo|pode|perfeito|faça)\b",
        r"(?:sì|va bene|d['’]accordo|certo|perfetto|procedi)\b", r"(?:да|хорошо|согласен|давай|отлично|верно)\b",
        r"(?:可以|好|行|是的|对|没问题|同意|嗯)", r"(?:はい|うん|お願い|いい|了解)", r"(?:네|예|응|좋|그래)",
    ),
    # The person wants the assistant to go on.
    "continues": (
        r"(?:sorry,? |ok(?:ay)?,? |please )*(?:continue|carry on|go on|proceed|resume|keep going|retry|try again)\b",
        r"(?:mach )?weiter\b", r"continue[zr]?\b", r"(?:contin[uú]a|sigue)\b", r"contin(?:ue|ua|uar)\b",
        r"(?:continua|prosegui)\b",
        r"(?:продолжай|дальше)\b", r"(?:请)?继续", r"続け", r"계속",
    ),
    # The person orders a change.
    "orders": (
        r"(?:(?:also|only|just|please) )*(?:use|only|make|remove|delete|drop|keep|leave|rename|replace|put|add|never"
        r"|always|change|move|switch|set|extract"
        r"|split|store|show|hide|limit|raise|lower|convert|avoid|default|go with|stick (?:with|to)|don['’]?t"
        r"|do not)\b",
        r"(?:nutze|nimm|entferne|lösche|behalte|benenne|ersetze|füge|ändere|verschiebe|kein\w*|nur|immer)\b",
        r"(?:utilise|enlève|supprime|garde|renomme|remplace|ajoute|change|déplace|seulement|toujours)\b",
        r"(?:usa|quita|elimina|borra|mantén|renombra|reemplaza|añade|agrega|cambia|mueve|solo|sólo|siempre)\b",
        r"(?:use|remova|apague|mantenha|renomeie|substitua|adicione|mude|mova|apenas|só|sempre)\b",
        r"(?:usa|rimuovi|elimina|tieni|rinomina|sostituisci|aggiungi|cambia|sposta|solo|sempre)\b",
        r"(?:используй|убери|удали|оставь|переименуй|замени|добавь|измени|перенеси|только|всегда)\b",
        r"(?:用|使用|删除|去掉|保留|改|替换|添加|增加|加|补充|只)", r"(?:使って|削除|残し|変更|置き換え|追加|移動)", r"(?:사용|삭제|유지|변경|추가|이동)",
    ),
    # Work that leaves nothing to know: looking, running, explaining, repairing, committing.
    "upkeep": (
        r"(?:(?:add|write|create|update|fix|run) (?:\w+ ){0,3}(?:unit |integration )?tests?\b|check|explain|show"
        r"|tell|give|run|re-?run|test|commit"
        r"|push|pull|merge|rebase|open|look|read|see|find|search|list|review|verify|debug|investigate|fix|try"
        r"|try again|continue|resume"
        r"|proceed|research|do (?:some|a|the) (?:research|review|check)|summari[sz]e|describe|analy[sz]e|evaluate"
        r"|compare|suggest|propose|help|address|respond|shift|start (?:the|a|it|with)|restart|install|build|for example|eg\b|e\.g\."
        r"|deploy|what|how|who|when|where|which|is|are|does|do (?:we|you|they|i)|did|has|have (?:we|you|they))\b",
        r"(?:zum beispiel|prüfe?|erklär\w*|zeige?|starte|teste?|schau\w*|lies|suche?|behebe?|mach weiter|weiter"
        r"|was (?:ist|sind|macht|heißt|passiert)|wie|wer|wann|wo|welche\w*)\b",
        r"(?:par exemple|vérifie\w*|explique\w*|montre\w*|lance|teste|regarde|lis|cherche|corrige|continue\w*|que"
        r"|quel\w*|comment|qui|quand|où)\b",
        r"(?:por ejemplo|verifica|revisa|explica|muestra|ejecuta|prueba|mira|lee|busca|arregla|contin[uú]a|sigue|qué"
        r"|cómo|quién|cuándo|dónde|cuál)\b",
        r"(?:por exemplo|verifique|revise|explique|mostre|execute|teste|veja|leia|procure|corrija|continue|o que"
        r"|como|quem|quando|onde|qual)\b",
        r"(?:per esempio|controlla|spiega|mostra|esegui|prova|guarda|leggi|cerca|correggi|continua|che cosa|cosa"
        r"|come (?:si|mai|faccio|posso)|chi|quando|dove|quale)\b",
        r"(?:например|проверь|объясни|покажи|запусти|посмотри|прочитай|найди|исправь|продолжай|что|как|кто|когда|где"
        r"|какой)\b",
        r"(?:例如|比如|检查|解释|查看|运行|测试|看看|看一下|阅读|搜索|修复|继续|提交|开始|什么|怎么|如何|为什么|还有)",
        r"(?:例えば|確認|説明|見せ|実行|テスト|調べ|直して|続け|何|どう)", r"(?:예를 들어|확인|설명|보여|실행|테스트|찾아|고쳐|계속|무엇|어떻게)",
    ),
}  # fmt: skip
_ANYWHERE: dict[Part, tuple[str, ...]] = {
    # The assistant reports that something was done, or says what holds from now on.
    "done": (
        r"^\W*(?:all )?done\b|^\W*(?!need|indeed|based|interest|suppose|unrelated|red\b|shared|expected)[a-z]{2,}ed\b"
        r"|\bi(?:['’]ve| have) (?:now |also |just |successfully )*(?!found|identified|noticed|checked|seen|read"
        r"|reviewed|analy[sz]ed|looked)\w+(?:ed|en|t|e|d)\b"
        r"|\b(?:has|have) (?:now |all )?been (?:\w+ly )?\w+ed\b|\b(?:is|are|was|were) (?:now|removed|added|updated"
        r"|replaced|renamed|moved|fixed)\b"
        r"|(?<!right )(?<!for )(?<!should )\bnow\b|\bno longer\b|\bfix is in\b|\bcomplete\.",
        r"\b(?:erledigt|fertig|umgestellt|geändert|entfernt|hinzugefügt|ersetzt|angepasst|eingebaut|behoben"
        r"|umbenannt|angelegt"
        r"|aktualisiert|verschoben)\b",
        r"\b(?:c['’]est fait|terminé|ajoutée?s?|supprimée?s?|remplacée?s?|modifiée?s?|mise? à jour|corrigée?s?"
        r"|renommée?s?|crééee?s?|créée?s?)\b",
        r"\b(?:hecho|listo|añadid[oa]s?|agregad[oa]s?|eliminad[oa]s?|cambiad[oa]s?|actualizad[oa]s?|reemplazad[oa]s?"
        r"|corregid[oa]s?|cread[oa]s?)\b",
        r"\b(?:pronto|feito|adicionad[oa]s?|removid[oa]s?|alterad[oa]s?|atualizad[oa]s?|substituíd[oa]s?"
        r"|corrigid[oa]s?|criad[oa]s?)\b",
        r"\b(?:fatto|aggiunt[oaie]|rimoss[oaie]|modificat[oaie]|aggiornat[oaie]|sostituit[oaie]|corrett[oaie]"
        r"|creat[oaie])\b",
        r"\b(?:готово|сделано|добавлен[аоы]?|удал[её]н[аоы]?|изменен[аоы]?|обновлен[аоы]?|заменен[аоы]?"
        r"|исправлен[аоы]?|создан[аоы]?)\b",
        r"(?:已(?!知|有|经存在|配置)|完成了|改为|修改为|移除了)", r"(?:しました|済み|完了|変更され|追加され)", r"(?:했습니다|되었습니다|완료)",
    ),
    # The assistant says that it was wrong, or that the person has a point.
    "concedes": (
        r"\b(?:you(?:['’]re| are) (?:absolutely |completely |totally )?(?:right|correct)|my (?:apologies|mistake"
        r"|bad)|i apologi[sz]e"
        r"|i (?:missed|misread|misunderstood)|good (?:point|catch)|revert my)\b",
        r"\b(?:du hast recht|sie haben recht|mein fehler|guter punkt)\b",
        r"\b(?:vous avez raison|tu as raison|mon erreur|désolé)\b",
        r"\b(?:tienes razón|mi error|lo siento)\b", r"\b(?:você tem razão|meu erro|desculpe)\b",
        r"\b(?:hai ragione|ha ragione|errore mio|scusa)\b",
        r"\b(?:вы правы|ты прав|моя ошибка|извин)", r"(?:你说得对|您说得对|抱歉|我的错)", r"(?:おっしゃる通り|その通り|申し訳|すみません)",
        r"(?:맞습니다|죄송|제 실수)",
    ),
    # Something does not work: what follows is a repair, not a choice.
    "fails": (
        r"\b(?:fails?|failed|failing|failures?|errors?|exception|crash\w*|broken?|bugs?|issues?|not working"
        r"|doesn['’]?t work|does not work|won['’]?t|traceback)\b",
        r"\b(?:fehler\w*|kaputt|geht nicht|funktioniert nicht|absturz)\b",
        r"\b(?:erreurs?|échoue\w*|marche pas|plante\w*)\b",
        r"\b(?:error(?:es)?|fall[aoó]\w*|no funciona)\b", r"\b(?:erros?|falh\w+|não funciona)\b",
        r"\b(?:errori?|fallisce|non funziona)\b",
        r"\b(?:ошибк\w+|падает|не работает)\b", r"(?:报错|错误|失败|不工作|崩溃)", r"(?:エラー|失敗|動かな)", r"(?:오류|에러|실패|안 돼)",
    ),
    # The person says how it should be.
    "wishes": (
        r"\b(?:let['’]?s|should(?:n['’]?t)?|must(?:n['’]?t)?|want|prefer|rather|instead(?! of)|from now on"
        r"|going forward|as a rule"
        r"|for now|i(?:['’]d| would) like|i like|sounds|decided|agreed|(?:don['’]?t|do not) (?:need|want|use|add)"
        r"|no need|we['’]ll|(?:is|are) \d+ .*\bnow)\b",
        r"\b(?:sollte?n?|muss|müssen|lieber|stattdessen|nie(?:mals)?|ab jetzt|wir nehmen|nehmen wir|lass(?:t)? uns"
        r"|entschieden|beschlossen)\b",
        r"\b(?:devrai\w*|doit|doivent|il faut|plutôt que|jamais|désormais|on (?:garde|prend|utilise)|décidé)\b",
        r"\b(?:debe(?:n|mos|ría\w*)?|hay que|en vez de|nunca|a partir de ahora|vamos a usar|usaremos|decidido"
        r"|quiero)\b",
        r"\b(?:deve(?:ria|riam|m)?|prefiro|em vez de|nunca|a partir de agora|vamos usar|decidimos|quero)\b",
        r"\b(?:dovrebbe|devono|meglio|invece|d['’]ora in poi|usiamo|deciso|voglio)\b",
        r"\b(?:должн\w+|нужно|надо|лучше|вместо|никогда|решили|хочу)\b",
        r"(?:应该|应当|必须|不要|不用|没有必要|改成|改为|统一|直接|换成|去除|删除)", r"(?:べき|てほしい|にして|ではなく|必ず|常に)",
        r"(?:해야|하지 마|대신|항상|바꿔|으로 하자)",
    ),
    # Somebody speaks to somebody. A long text without such words was written elsewhere.
    "addresses": (
        r"\b(?:i|i['’]\w+|we|you|your|my|our|us|me|let['’]?s|please|can|could)\b",
        r"\b(?:ich|wir|du|mir|uns|bitte|kannst)\b", r"\b(?:je|j['’]\w+|nous|on|tu|vous)\b",
        r"\b(?:yo|nosotros|tú|me|nos|puedes|quiero|necesito)\b", r"\b(?:eu|nós|você|me|nos|quero|preciso)\b",
        r"\b(?:io|noi|tu|mi|ci|puoi|voglio)\b",
        r"\b(?:я|мы|ты|вы|мне|нам)\b", r"[我你您们请吗吧]", r"[私僕]|ください|ましょう|です", r"(?:저|나|우리|세요|까요)",
    ),
}  # fmt: skip
# Words of which a request consists that names no subject: a greeting, consent, "continue".
_EMPTY_WORDS = frozenset(
    "a again ahead all and are as been carry commit continue cool danke day do doing done everyone fine for from"
    " go good gracias great have hallo hello hey hi hola how i is it ja k keep going left off lgtm like long looks me"
    " merci merge morning afternoon evening moin nein next nice no non nope now ok okay on oui please perfect proceed push"
    " resume retry right salut see si sí so sounds sorry stop sure test thank thanks that the then there this thx time to"
    " today try up wait weiter well what what's whats where with y yeah yep yes yo you your sigue continuez continúa можно"
    " да хорошо продолжай дальше 可以 好 好的 继续 开始 开始实施 是的 对 嗯 谢谢 はい お願い お願いします 続けて 네 좋아요 계속".split()
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
_LEAST_REST = 8  # characters
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")


def begins(part: Part, text: str) -> bool:
    """Whether a text begins with such words, after words of courtesy."""
    return _start(part).match(text) is not None


def says(part: Part, text: str) -> bool:
    """Whether such words stand anywhere in a text."""
    return _anywhere(part).search(text) is not None


def is_empty(text: str) -> bool:
    """Whether what a person says names no subject: a greeting, "continue", "yes"."""
    return all(word.lower().replace("’", "'") in _EMPTY_WORDS for word in _WORD.findall(text))


def changes_subject(text: str) -> bool:
    """Whether a turn of the person says that it is about something else than the one before."""
    return bool(_OTHER_SUBJECT.match(text))


def without_opening(text: str) -> str:
    """A request without "ok, can you please" and the like before it; itself if hardly anything would remain."""
    rest = text
    while (found := _opening().match(rest)) and found.end():
        rest = rest[found.end() :]
    return rest if len(rest) > _LEAST_REST else text


@cache
def _start(part: Part) -> re.Pattern[str]:
    opening = _OPENING + _POLITE if part in ("upkeep", "orders") else r"\W*"
    return re.compile(f"{opening}(?:{'|'.join(_AT_START[part])})", re.IGNORECASE)


@cache
def _anywhere(part: Part) -> re.Pattern[str]:
    return re.compile("|".join(_ANYWHERE[part]), re.IGNORECASE)


@cache
def _opening() -> re.Pattern[str]:
    return re.compile(_OPENING + _POLITE, re.IGNORECASE)
