import { describe, expect, it } from "vitest";
import { statesDecision } from "../../src/remember/decides";

describe("a sentence that states a decision", () => {
  it.each([
    "We decided to keep SQLite.",
    "we’ve agreed on two weeks",
    "Let’s go with Redis.",
    "Decision: port 6379",
    "Wir haben uns für SQLite entschieden.",
    "Also haben wir gestern vereinbart, zwei Wochen zu warten.",
    "Wir bleiben bei Python 3.11.",
    "Lass uns den kleinen Cache verwenden.",
    "Wir werden ab Montag den neuen Server benutzen.",
    "Beschluss: vier Wochen",
    "On a décidé de garder SQLite.",
    "Il est décidé d’attendre.",
    "Nous avons choisi le port 6379.",
    "On part sur Redis.",
    "Décision : quatre semaines",
    "Hemos decidido mantener SQLite.",
    "Al final vamos a usar Redis.",
    "Nos quedamos con el puerto 6379.",
    "Se acordó cerrar a las seis.",
    "Decisión: cuatro semanas",
  ])("%s", (sentence) => expect(statesDecision(sentence)).toBe(true));

  it.each([
    "have we decided on a name?",
    "We haven't decided on a name yet.",
    "Who decides, and when?",
    "The tests are green.",
    "Wir haben uns noch nicht entschieden.",
    "Wir haben den Fehler gefunden.",
    "Haben wir uns für SQLite entschieden?",
    "Der Server läuft wieder.",
    "On n'a pas encore décidé de la date.",
    "Nous avons trouvé la cause.",
    "Le serveur marche.",
    "No hemos decidido nada.",
    "¿Vamos a usar Redis?",
    "Hemos encontrado el error.",
    "We use a garden schedule.",
  ])("not: %s", (sentence) => expect(statesDecision(sentence)).toBe(false));
});
