/**
 * The words by which a sentence states a decision, in English, German, French and Spanish. They offer to remember a
 * conversation and fill its draft, which a person reads: in other languages there is no offer, and nothing is lost.
 */

const ENGLISH = [
  String.raw`we(?:['’]ve| have)? (?:decided|agreed|chose)`,
  String.raw`we(?:['’]ll| will) (?:use|keep|go with|switch|drop|adopt)`,
  String.raw`let['’]?s (?:use|keep|go with|switch|drop|adopt)`,
  String.raw`(?<!(?:n['’]t|not|never) )(?:decided (?:to|on|that|against)|agreed (?:to|on|that))`,
  String.raw`i(?:['’]ve| have) decided`,
  String.raw`decision(?= ?:)`,
];

/** The verb comes last: “wir haben uns für SQLite entschieden”. */
const GERMAN = [
  String.raw`(?:wir haben|ich habe|haben wir|habe ich)(?: (?!nicht|noch|nie)[^\s.!?]+){0,20}? (?:entschieden|beschlossen|vereinbart|geeinigt|festgelegt)`,
  String.raw`wir (?:nehmen|bleiben bei|bleiben dabei|wechseln (?:zu|auf)|setzen auf|einigen uns)`,
  String.raw`wir werden(?: (?!nicht|wohl|vielleicht)[^\s.!?]+){1,20}? (?:verwenden|benutzen|nutzen|nehmen|behalten|einsetzen|abschaffen)`,
  String.raw`(?:lass|lasst|lassen sie) uns(?: [^\s.!?]+){1,20}? (?:verwenden|benutzen|nutzen|nehmen|behalten|einsetzen|wechseln)`,
  String.raw`(?:entscheidung|beschluss|entschieden|beschlossen)(?= ?:)`,
  String.raw`(?<!nicht )(?:es ist|wurde|ist) (?:entschieden|beschlossen|vereinbart)`,
];

const FRENCH = [
  String.raw`(?:on a|nous avons|j['’]ai) (?:d[ée]cid[ée]|choisi|convenu|retenu)`,
  String.raw`(?:on va|nous allons) (?:utiliser|garder|prendre|adopter|passer [àa]|rester sur|abandonner)`,
  String.raw`(?:on (?:garde|prend|adopte|part sur|reste sur|passe [àa])|nous (?:gardons|prenons|adoptons|partons sur|restons sur|passons [àa]))`,
  String.raw`(?<!pas (?:encore )?)d[ée]cid[ée] (?:de|que|d(?=['’]))`,
  String.raw`c['’]est d[ée]cid[ée]`,
  String.raw`d[ée]cision(?= ?:)`,
];

const SPANISH = [
  String.raw`(?<!no )(?:hemos|he) (?:decidido|acordado|elegido|optado por)`,
  String.raw`(?<!no )(?:decidimos|acordamos|elegimos|optamos por)`,
  String.raw`(?<!no )(?:vamos a|voy a) (?:usar|utilizar|mantener|adoptar|cambiar a|pasar a|quedarnos con)`,
  String.raw`(?<!no )(?:usaremos|utilizaremos|mantendremos|adoptaremos|nos quedamos con|nos quedaremos con)`,
  String.raw`(?<!no )(?:se (?:decidi[óo]|acord[óo])|queda decidido)`,
  String.raw`decisi[óo]n(?= ?:)`,
];

const PHRASES = [...ENGLISH, ...GERMAN, ...FRENCH, ...SPANISH].join("|");
/** Whole words; `\b` knows only the letters of English. */
const DECIDES = new RegExp(String.raw`(?<![\p{L}\p{N}])(?:${PHRASES})(?![\p{L}\p{N}])`, "iu");

/** Whether a sentence states a decision. A sentence that asks states none. */
export const statesDecision = (sentence: string): boolean => DECIDES.test(sentence) && !/[?？]$/u.test(sentence);
