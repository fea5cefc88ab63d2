"""The words by which a turn's part in a conversation is told, in ten languages: one table.

A beat's shape (who spoke, what was changed, what came next) needs no language. These words say the rest: that something
was done, is only intended, was wrong, is accepted. What is missing here makes a summary shorter, not wrong.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Literal

Part = Literal[
    "courtesy", "intends", "retracts", "reverts", "disputes", "accepts", "continues", "orders", "upkeep", "done",
    "concedes", "fails", "persists", "wishes", "addresses", "closes", "refers", "procedure", "chores", "praise",
    "plans", "remains", "roles", "denies",
]  # fmt: skip

# English first, then German, French, Spanish, Portuguese and Italian, then Russian, Chinese, Japanese and Korean. In a
# word, ``_`` is a blank, ``*`` stands for more letters, and an apostrophe may be missing.
_TABLE: dict[Part, str] = {
    # Words before a request that say nothing of it.
    "courtesy": """
        hey hi hello no, ok okay oh ah yes yeah yep so and now then also alright right great good nice cool perfect
        awesome thanks thank_you next go_ahead_and please well finally however sure but hmm sorry thinking_again
        can_you could_you would_you will_you can_we could_we i'd_like_you_to i'd_like_it_to i'd_like_us_to
        i'd_like_to i'd_like i_would_like_it_to i_would_like_to i_want_you_to i_want_to i_want i_also_want
        i_do_also_want i_do_want to let's i_think we_should want_me_to would_you_like_me_to should_i shall_i
        do_you_want_me_to hallo gut ja bitte kannst_du könntest_du ich_möchte ich_will soll_ich salut bien oui bon
        peux-tu pourrais-tu je_voudrais je_veux hola vale sí puedes podrías quiero sim você_pode quero certo puoi
        vorrei хорошо да можешь я_хочу 好的 好 请 帮我 我想 需要我 はい 네""",
    # The assistant tells what it is about to do, or what may be done.
    "intends": """
        let_me let's let_us i'll i_will i'm_going_to i_need_to i_should i_can i_see here's here_are would_you
        do_you_want want_me should_i shall_i you_can you_could you_may you_might you_should this_should checking
        looking reading running wait next first then now_the_test* i_now_have i've_now_got ich_werde lass_mich
        soll_ich je_vais je_vois laissez-moi veux-tu voy_a vamos_a déjame vou vamos deixe-me vado_a lasciami сейчас
        давай* я_проверю я_сделаю 我将 我先 我会 我来 我准备 让我 接下来 需要我 我需要 现在我 看起来 まず これから
        それでは 먼저 이제 제가""",
    # The person takes back what was asked or done before.
    "retracts": """
        ok_but ok,_but okay,_but well,_but sure_but sure,_but yes,_but yeah,_but no hmm_no hmm,_no nope nah wait
        actually instead revert undo stop wrong thinking_again on_second_thought* never_mind nevermind forget_it
        forget_that scratch_that i_disagree i_don't_like i_don't_agree i_changed_my_mind why_can't why_don't why_not
        nein doch_nicht falsch stopp ja,_aber warum_nicht lieber non pas_ça faux attends oui,_mais finalement plutôt
        espera sí,_pero mejor en_realidad não sim,_mas na_verdade aspetta sì,_ma anzi in_realtà нет не_так неверно
        стоп да,_но лучше 不对 不是 不要 不行 错了 为什么不 いや いいえ 違 待って やっぱり 아니 틀렸 잠깐""",
    # The same, anywhere in a turn.
    "reverts": """
        revert* undo_that undo_this undo_it roll_back roll_it_back put_it_back change_it_back
        mach_das_rückgängig annule_ça reviens_en_arrière deshazlo reverte annulla откати верни 回滚 撤销 还原 元に戻""",
    # The person doubts the answer before, but not what was asked.
    "disputes": """
        hmm* hm um uhm huh sorry but that's_not that's_wrong this_is_not this_is_wrong it's_not it's_still
        it_is_still i_don't_see i_see_no i_still not_quite not_what not_like why_did why_would why_are why_is
        you_didn't you_shouldn't you_misunderstood you_forgot it_didn't it_doesn't it_still it_named it_only
        one_issue one_problem still aber warum_hast moment mais en_fait pero mas errado ma sbagliato но подожди 等等
        等下 但是 为什么 でも なぜ 하지만 왜""",
    # The person takes what the assistant offered.
    "accepts": """
        ok okay yes yeah yep yup sure agreed sounds_good sounds_great sounds_fine perfect great good nice fine
        makes_sense lgtm go_ahead go_for_it do_it do_that do_this please_do exactly correct ja gut einverstanden
        genau passt oui d'accord vas-y parfait sí vale de_acuerdo adelante sim certo pode sì va_bene да хорошо
        согласен давай отлично 可以 好 行 是的 对 没问题 同意 嗯 はい うん お願い いい 了解 네 예 응 좋 그래""",
    # The person wants the assistant to go on.
    "continues": """
        continue agent_continue keep_doing sorry,_continue
        ok_continue please_continue carry_on go_on proceed resume keep_going retry try_again
        weiter mach_weiter continuez continúa sigue continua prosegui продолжай дальше 继续 请继续 続け 계속""",
    # The person orders a change.
    "orders": """
        also_add use only make remove delete drop keep leave rename replace put add never always change move switch
        set extract split store hide limit raise lower convert avoid default go_with stick_with stick_to don't do_not
        nutze nimm entferne lösche behalte ersetze füge ändere verschiebe nur immer utilise enlève supprime garde
        remplace ajoute déplace usa quita borra mantén reemplaza añade agrega cambia mueve siempre remova mantenha
        substitua adicione mude rimuovi elimina tieni sostituisci aggiungi sposta используй убери удали оставь
        переименуй замени добавь измени 用 使用 删除 去掉 保留 改 替换 添加 增加 补充 只 使って 削除 残し 変更 追加
        사용 삭제 유지 변경 추가""",
    # Work that leaves nothing to know: looking, running, explaining, repairing, committing; and examples.
    "upkeep": """
        npm npx pip pip3 yarn docker curl cd git_clone abre recarga reinicia tester choisissez ouvrez rechargez allez
        проверить откройте запустите öffne est-ce qu'est-ce* haz navega por_favor
        add_a_test add_tests add_some_tests write_a_test write_tests update_the_tests check explain show tell give
        run rerun test commit push pull merge rebase open look read see find search list review verify debug
        investigate fix try continue resume proceed research do_some do_a do_the_research summarize describe analyze
        evaluate compare suggest get_started move_on get_back come_back go_through work_through check_off
        create_a_branch create_a_new_branch create_a_new_git_branch create_a_pr there_are there's understand
        troubleshoot plan work_on start_working browse walk take scan inspect examine perform feel_free propose help
        address respond shift sort_this talk pause discuss write_up draft make_sure_you include_th* confirm start_the
        start_a start_with restart install build deploy what how who when where which is are does do_we do_you
        do_they did has have_we have_you for_example eg e.g. sag_mir dis-moi dime diga-me dimmi скажи 告诉 教えて
        알려 prüfe erklär* zeig* starte teste schau* lies suche behebe wie wer wann wo welche* zum_beispiel vérifie*
        explique* montre* lance regarde lis cherche corrige quel* comment qui quand où par_exemple verifica revisa
        explica muestra ejecuta prueba busca arregla qué cómo quién cuándo dónde por_ejemplo verifique explique
        mostre execute procure corrija o_que quem quando onde controlla spiega mostra esegui cerca correggi cosa chi
        dove per_esempio проверь объясни покажи запусти посмотри найди исправь что как кто когда где 检查 解释 查看
        运行 测试 看看 看一下 阅读 搜索 修复 提交 什么 怎么 如何 为什么 还有 例如 比如 確認 説明 見せ 実行 テスト
        調べ 直して 何 どう 例えば 확인 설명 보여 실행 테스트 찾아 고쳐 무엇 어떻게""",
    # The assistant reports what was done, or what holds from now on. English participles are in ``_PARTICIPLE``.
    "done": """
        now no_longer is_complete is_in_place fix_is_in saved_to erledigt fertig umgestellt geändert entfernt
        hinzugefügt ersetzt angepasst eingebaut behoben umbenannt aktualisiert c'est_fait terminé ajouté* supprimé*
        remplacé* modifié* corrigé* renommé* créé* mis_à_jour hecho listo añadid* agregad* eliminad* cambiad*
        actualizad* reemplazad* corregid* cread* feito adicionad* removid* alterad* atualizad* substituíd* corrigid*
        criad* fatto aggiunto aggiunta aggiunti aggiunte rimoss* modificato modificata aggiornat* sostituit* corrett*
        creato creata creati готово сделано добавлен добавлена добавлено добавлены удален удалён удалена удалено
        удалены изменен изменён изменена изменено изменены обновлен обновлён обновлена обновлено обновлены заменен
        заменён заменена заменено заменены исправлен исправлена исправлено исправлены создан создана создано созданы
        теперь 已实现 已统一 已补充 已完成 已移除 已改 已添加 已更新 已删除 已修 已新增 完成了 改为 移除了 しました
        済み 完了 変更され 追加され 했습니다 되었습니다 완료""",
    # The assistant says that it was wrong, or that the person has a point.
    "concedes": """
        you're_right you_are_right you_were_right you_were_absolutely_right you're_absolutely_right
        you_are_absolutely_right you're_correct you_are_correct my_apologies my_mistake i_apologize i_missed
        i_misread i_misunderstood good_point good_catch revert_my du_hast_recht mein_fehler vous_avez_raison
        tu_as_raison désolé tienes_razón lo_siento você_tem_razão desculpe hai_ragione ha_ragione вы_правы ты_прав
        моя_ошибка 你说得对 您说得对 抱歉 その通り 申し訳 맞습니다 죄송""",
    # Something does not work: what follows is a repair, not a choice.
    "fails": """
        fail fails failed failing failure* error errors exception crash* broke broken bug bugs issue issues
        not_working doesn't_work does_not_work won't traceback fehler* kaputt geht_nicht funktioniert_nicht erreur*
        échoue* plante* fallo falla no_funciona erro erros falha não_funciona errore fallisce non_funziona ошибк*
        падает не_работает 报错 错误 失败 崩溃 エラー 失敗 動かな 오류 에러 실패""",
    # The person says that what was done changed nothing.
    "persists": """
        is_still are_still it_still still_not still_no still_nothing still_fail* still_hang* still_get* still_see*
        still_do* still_show* still_the_same nothing_happen* nothing_is nothing_changed no_effect not_*_again
        wasn't_*_again didn't_*_again doesn't_*_again same_error same_issue same_problem none_of_*_work*
        none_of_*_*_work* didn't_work did_not_work didn't_*_work didn't_help not_fixed immer_noch toujours
        encore sigue siguen todavía ainda_não ancora
        всё_ещё все_ещё по-прежнему 仍然 还是不 还是没 还是有 まだ 여전히""",
    # The person may say that what was reported is not so.
    "denies": """
        not doesn't don't didn't isn't aren't wasn't can't cannot won't wrong still again same missing nothing
        instead nicht kein* falsch wieder fehlt nichts pas rien faux manque encore toujours no sigue falta
        nada mal otra_vez não ainda errado non ancora manca niente sbagliato не нет опять снова ещё почему
        ничего 不 没 沒 还 還 仍 错 錯 又 ない ません まだ また 안 않 아직""",
    # The person says how it should be.
    "wishes": """
        let's should shouldn't must mustn't want prefer i'd_rather would_rather instead from_now_on going_forward
        as_a_rule for_now i'd_like i_would_like i_like sounds decided agreed don't_need don't_want don't_use
        do_not_use do_not_want no_need sollte* muss müssen lieber stattdessen niemals ab_jetzt wir_nehmen nehmen_wir
        lass_uns entschieden beschlossen devrai* doit doivent il_faut plutôt_que jamais désormais on_garde on_prend
        on_utilise décidé debe deben debería* hay_que nunca en_vez_de vamos_a_usar usaremos decidido quiero deve
        deveria prefiro em_vez_de vamos_usar decidimos quero dovrebbe devono invece d'ora_in_poi usiamo deciso voglio
        должн* нужно надо лучше вместо никогда решили хочу 应该 应当 必须 不要 不用 没有必要 改成 改为 统一 直接 换成
        去除 删除 べき てほしい にして ではなく 必ず 常に 해야 하지_마 대신 항상 바꿔""",
    # The assistant offers anything more: nothing is open.
    "closes": """
        any_other any_further any_additional any_more any_adjustments any_changes any_tweaks anything_else
        commit_message further_adjust* something_else what_else noch_etwas sonst_noch weitere_anpassungen autre_chose
        d'autres_modifications algo_más otro_cambio mais_alguma algo_mais altro ещё_что-то что-нибудь_ещё 其他
        还有什么 需要帮助 他に 다른""",
    # A question about how to go on, or an answer that leaves it open: nothing that lasts is decided.
    "procedure": """
        what_would_you_like would_you_like_me want_me_to you_decide proceed go_on next ready more_questions more_to
        any_other reproduce review push commit committed weiter vorgehen ensuite siguiente continuar continuare
        дальше 下一步 继续 次に 다음""",
    # A sentence that is about the one before it, and does not say what.
    "refers": """
        none_of_these all_of_these both this that that'll that's it it's it'll these those das dies es ça cela c'est
        esto eso isso isto questo quello это 这 那 これ それ 이것 그것""",
    # Tests that pass, a commit, what was read: the assistant reports it, and nothing follows from it.
    "chores": """
        is_complete is_now_complete implementation_complete marked_as moved_to_done added_debug* added_console_log*
        tests_pass* tests_are_now tests_are_passing tests_now_pass* all_tests_* changelog committed pushed ahead_of
        working_tree fast-forward* up_to_date type_errors typecheck* lint* compiles_without to_commit commit_message
        new_tests new_lines ok_– ok_-
        my_understanding staged_for i_now_understand i've_reviewed i've_analyzed i've_read i've_loaded i've_examined
        i_can_now i_now_have based_on_my clear_understanding i_apologize my_apologies alle_tests tests_laufen
        les_tests_passent las_pruebas_pasan os_testes_passa* i_test_passano тесты_проход* 测试通过 已提交
        テストは成功 테스트_통과""",
    # The assistant praises what it did, instead of saying what.
    "praise": """
        comprehensive* robust professional* maintainable seamless* significantly greatly much_more ready_for ready_to
        production-ready fully a_complete everything clean modular all_changes all_requested all_the_changes
        all_the_requested powerful well-organized well-structured best_practices cleaner clearer more_organized 专业级
        more_maintainable intuitive efficient high-quality works_correctly now_works now_working working_correctly
        umfassend* nahtlos* robuste* professionnel* profesional* abrangente комплексн* 全面 完善 包括的 포괄적""",
    # The assistant tells on its way what it is about to do: no result.
    "plans": """
        i'll i_will i'm i_am i_might i_need let_me let's ich_werde lass_mich je_vais voy_a vou vado_a я_сделаю давай*
        я_вижу попробую продолжаю 我将 我会 我需要 我来 让我 これから 제가""",
    # The assistant says what is left to do.
    "remains": """
        remaining next_step* still_need* not_yet yet_to verbleib* nächste*_schritt* prochaine*_étape* reste_à
        siguiente*_paso* falta próximo*_passo* rimane осталось 下一步 剩余任务 剩余工作 还需 残り 남은""",
    # The person tells the assistant who it is to be.
    "roles": """
        you_are_a you_are_an you_are_claude you_are_codex you_are_in you_are_working you_are_the act_like act_as
        your_job your_role your_task your_goal du_bist_ein* tu_es_un* eres_un* você_é_um* sei_un* 你是""",
    # Somebody speaks to somebody. A long text without such words was written elsewhere.
    "addresses": """
        i i'm i've i'd i'll we we're we've you your my our us me let's please can could ich wir du mir uns bitte
        kannst je j'ai nous on tu vous yo nosotros me nos puedes eu nós você io noi mi ci puoi я мы ты вы мне нам 我
        你 您 们 请 吗 吧 私 僕 ください ましょう です 저 나 우리 세요 까요""",
}
_VERBED = (
    r"(?:add|adapt|adjust|allow|appli|bump|capp|chang|clean|configur|convert|correct|creat|delet|disabl|dropp|enabl"
    r"|enhanc|ensur|expand|extend|extract|fix|handl|implement|improv|increas|integrat|introduc|limit|mov|migrat|modif"
    r"|modifi|preserv|reduc|refactor|remov|renam|reorder|reorganiz|replac|resolv|restor|revert|simplifi|sort|stor|switch"
    r"|updat|upgrad|us|wrapp|wir)ed\b|(?:built|kept|made|rewrote|wrote)\b"
)
_ADJECTIVE = r"(?:increased|limited|reduced|used) (?!(?:a|all|an|each|its?|the|to)\b)[a-z`]"  # "Limited extraction"
_PARTICIPLE = re.compile(
    rf"^\W*(?:all )?done(?=\W*$|[.:!,]| [–—-])|^\W*(?!{_ADJECTIVE})(?:{_VERBED})(?! using\b)"
    rf"|(?:^|[.:;!,] |\band )\W*i (?:\w+ly |also )*(?:{_VERBED})"
    r"|\bi(?:['’]ve| have) (?:\w+ly |also )*(?!the\b|some\b|one\b|been|found|identified|noticed|checked|observed"
    r"|launched|seen|read|reviewed|looked|got)\w+(?:ed|en|t|e|d)\b|\b(?:has|have) (?:all |now )?been (?:\w+ly )?\w+ed\b"
    r"|\b(?:ich habe|habe ich)\b(?!.*\b(?:ge(?:funden|lesen|prüft|sehen|sucht)|analysiert|bemerkt|verstanden)\b)"
    r"|\b(?:is|are) (?:removed|added|updated|replaced|renamed|fixed|capped|limited|moved|disabled|enabled)\b",
    re.IGNORECASE,
)
# "Now" that reports nothing: what goes on, should be so, is understood, or comes next.
_NOT_DONE = re.compile(
    r"\b(?:right|for|clear|but|until|which|what is|what['’]s) now\b|\.now\b|\bshould\b.*?\bnow\b|\bnow\b.*?\bshould\b"
    r"|\bnow (?:\w+ing|i|we|you|need|or later|clear|understood)\b|\(now\)|^\W*now,"
    r"|\b(?:why\b.*|that (?:are |is )?)\b(?:now|no longer)\b|(?:^|[.!] )\W*[^\W_]+ing .*\bnow\b|\bтеперь\b.*?\bдолж\w+"
    r"|теперь(?:,| (?:давай\w*|мне|мы|вы|нам|у нас|у меня|надо|когда|понят\w+|видно|ясно|я|\w+(?:[аеёи]м|мся|ю|у))\b)"
    r"|\bли теперь\b",
    re.IGNORECASE,
)
# What may be, or is said against something: no report.
_UNSURE = re.compile(
    r"\b(?:might|should|probably|seems?|looks? like|yet|would say|ensure that|make sure|mistake|нужно|возможно|может)\b"
    r"|^\W*(?:however|but|although|despite|even|since|unfortunately|if|wenn|falls|si|se|если|несмотря|the user \w+s)\b"
    r"|\b(?:devrai\w*|deberí\w*|deveria\w*|dovrebbe\w*|könnten|sollten|stell\w* (?:sie )?sicher)\b"
    r"|^\W*[若如请請]|[应應][该該当]",
    re.IGNORECASE,
)
# What is wrong or left to do, though it may be so now: "The error is now different", "It cannot tell what time is now".
_OPEN = re.compile(
    r"\b(?:cannot|can['’]?t|unable|still|lacks?|but never|(?:needs?|has|have) to|must)\b|^[\"“«].*[\"”»]\W*$"
    r"|^\W*(?:\w+ ){0,3}?(?:bug|cause|error|exception|failure|issue|problem)s? (?:is|are|was|were|comes?|lies?|occurs?"
    r"|remains?|persists?) (?!(?:all |also |now )*(?:no longer|gone|\w+(?:ed|wn|ght))\b)",
    re.IGNORECASE,
)
# A cause, what was so before, what somebody wants, or what is marked as wrong: not what is so now.
_WAS = re.compile(
    r"\b(?:because|was|were|had|before|previously|used to|problem|not|too|they|wants?|needs?)\b|n['’]t\b|[❌⚠✗]",
    re.IGNORECASE,
)
# Words of which a request consists that names no subject: a greeting, consent, "continue".
_EMPTY_WORDS = frozenset(
    "a again ahead all and are as been carry commit continue cool danke day do doing done everyone fine for from"
    " go good gracias great have hallo hello hey hi hola how i is it ja k keep going left off lgtm like long looks me"
    " merci merge morning afternoon evening moin nein next nice no non nope now ok okay on oui please perfect proceed"
    " push resume retry right salut see si sí so sounds sorry stop sure test thank thanks that the then there this thx"
    " time to today try up wait weiter well what what's whats where with y yeah yep yes yo you your sigue continuez"
    " continúa можно да хорошо продолжай дальше 可以 好 好的 继续 开始 开始实施 是的 对 嗯 谢谢 はい お願い"
    " お願いします 続けて 네 좋아요 계속".split()
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
# "Now commit and push", but not "Now uses it", "Now the list is sorted".
_NOW = re.compile(r"\W*now,? (?!(?:the|it|all|both|everything|\w+(?:s|ly))\b(?!['’]))[a-z]", re.IGNORECASE)
# A label with its value, an item of code or of a log, the mark of an option.
_FRAGMENT = re.compile(
    r"(?!\w+-\d)[\w-]+(?: [\w-]+)?:|or\b|\(?[A-Z]\)|option \w\b|[^\w`'\"“«(¿¡]|`[^`]*`\W*[:–—-]", re.IGNORECASE
)
_MENTIONS = re.compile(r"^(?:[@#]\S+ )+(?=\S)")  # files and tools that a request begins with
_LEAST_REST = 8  # characters
_INTERJECTIONS = re.compile(
    r"\W*(?:(?:ah|oh|finally|ok|okay|alright|great|good|perfect|now|so|well|yes|sure)[,.!] )+", re.IGNORECASE
)
_GERUND = re.compile(r"^(\W*\w{2,20}?)(?:([bdgmnprt])\2)?ing\b")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")


def begins(part: Part, text: str) -> bool:
    """Whether a text begins with such words; what the person wants done may have words of courtesy before it."""
    if part in ("orders", "upkeep", "reverts"):
        text = _requested(text)
    elif part == "intends":
        text = _INTERJECTIONS.sub("", text)
        if _NOW.match(text):
            return True
    return _pattern(part, at_start=True).match(text) is not None


def says(part: Part, text: str) -> bool:
    """Whether such words stand anywhere in a text."""
    text = _NOT_DONE.sub("", text) if part == "done" else text
    is_said = _pattern(part, at_start=False).search(text) is not None
    return is_said or (part == "done" and _PARTICIPLE.search(text) is not None)


def was_done(text: str) -> bool:
    """Whether a text says in so many words that something was done: "Added a limit", "I have moved it"."""
    return _PARTICIPLE.search(text) is not None


def is_open(text: str) -> bool:
    """Whether what an answer says is wrong or left to do, and nothing that it did."""
    return begins("intends", text) or (_OPEN.search(text) is not None and _PARTICIPLE.search(text) is None)


def is_report(outcome: str, *, is_done: bool = False) -> bool:
    """Whether an answer says what was done, not what will be, or what the person may do now. Of something that
    ``is_done``, what is so now is a report: "The page streams its rows", but not why it did not."""
    if _UNSURE.search(outcome) or is_open(outcome) or says("remains", outcome) or says("plans", outcome):
        return False
    is_now = is_done and not _WAS.search(outcome) and not any(begins(part, outcome) for part in ("orders", "refers"))
    is_now = is_now and not any(says(part, outcome) for part in ("fails", "concedes", "addresses"))
    return is_clear(outcome) and (is_now or says("done", outcome))


def is_errand(request: str) -> bool:
    """Whether a request leaves nothing to know, or what it asks for stands below it."""
    plain = _GERUND.sub(r"\1\2", request)  # "Fixing" is "fix"
    return request.endswith(":") or (begins("upkeep", plain) and not request.endswith("?"))


def is_clear(outcome: str) -> bool:
    """Whether what an answer says is a sentence of its own, and not only praise, or that tests pass."""
    fragment = _FRAGMENT.match(outcome)
    is_praise = (says("praise", outcome) or outcome.startswith(("All ", "Every "))) and "`" not in outcome
    return (fragment is None or says("done", fragment[0])) and not says("chores", outcome) and not is_praise


def is_empty(text: str) -> bool:
    """Whether what a person says names no subject: a greeting, "continue", "yes"."""
    return all(word.lower().replace("’", "'") in _EMPTY_WORDS for word in _WORD.findall(text))


def changes_subject(text: str) -> bool:
    """Whether a turn of the person says that it is about something else than the one before."""
    return bool(_OTHER_SUBJECT.match(text))


def without_courtesy(text: str) -> str:
    """A request without "ok, can you please" and the like before it; itself if hardly anything would remain."""
    rest = _requested(text)
    return rest if len(rest) > _LEAST_REST else text


def _requested(text: str) -> str:
    text = _MENTIONS.sub("", text)
    while (found := _pattern("courtesy", at_start=True).match(text)) and found.end() < len(text):
        text = text[found.end() :].lstrip(" ,.:!")
    return text


@cache
def _pattern(part: Part, *, at_start: bool) -> re.Pattern[str]:
    words = sorted(_TABLE[part].split(), key=len, reverse=True)
    return re.compile(rf"{chr(92)}W*" * at_start + f"(?:{'|'.join(map(_expression, words))})", re.IGNORECASE)


def _expression(word: str) -> str:
    """The expression of a word in the table. Scripts without blanks have no ends of words."""
    text = re.escape(word).replace("_", " ").replace(r"\*", r"\w*").replace("'", "['’]?")
    return text if word > "\u2e80" else rf"(?<!\w){text}(?!\w)"
