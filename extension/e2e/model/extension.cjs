// A chat model for tests. It answers with what its prompt tells: a summary where one is asked for, a tool call where the
// prompt names a tool, else the first line of the notes that it was given.
const vscode = require("vscode");

const SUMMARY = `Topic: Loan periods in the library
Context: We talked about how long books may be kept.
Decisions:
- Loans last four weeks, and may be renewed twice.
Rationale:
- Two weeks were too short for most readers.
Open Questions:
- Do reserved books have a shorter period?
Next Steps:
- Change the reminder mails.
References:
- docs/loans.md
`;

const CHAIRS = `Topic: Chairs of the reading room
Context: The reading room has too few chairs.
Decisions:
- We buy 20 new chairs for the reading room.
`;

exports.activate = async (context) => {
  const log = vscode.window.createOutputChannel("Fixture Model");
  context.subscriptions.push(
    log,
    vscode.lm.registerLanguageModelChatProvider("fixture", {
      provideLanguageModelChatInformation: () => [
        {
          id: "fixture-1",
          name: "Fixture One",
          family: "fixture",
          version: "1",
          maxInputTokens: 128000,
          maxOutputTokens: 8000,
          isUserSelectable: true,
          capabilities: { toolCalling: true, imageInput: false },
        },
      ],
      async provideLanguageModelChatResponse(_model, messages, _options, progress) {
        const text = messages.map((message) => message.content.map((part) => part.value ?? "").join("")).join("\n");
        log.appendLine(`request: ${messages.length} messages, ${text.length} characters`);
        log.appendLine(text);
        const asksForSummary = /Decisions:/.test(text) && /Rationale:/.test(text) && /summar/i.test(text);
        const summary = /new chairs/.test(text) ? CHAIRS : SUMMARY;
        const answer = asksForSummary && !/answer (the|from)/i.test(text) ? summary : "The notes say: four weeks.";
        progress.report(new vscode.LanguageModelTextPart(answer));
      },
      provideTokenCount: async (_model, text) => Math.ceil(JSON.stringify(text).length / 4),
    }),
  );
  const invoke = async (name, input) => {
    const { content } = await vscode.lm.invokeTool(name, { input, toolInvocationToken: undefined });
    const text = content.map((part) => part.value ?? "").join("");
    log.appendLine(`answer: ${text}`);
    void vscode.window.showInformationMessage(`Tool answer: ${text.replaceAll(/\s+/g, " ").slice(0, 300)}`);
  };
  context.subscriptions.push(
    vscode.commands.registerCommand("fixture.tools", () => {
      const names = vscode.lm.tools.map((tool) => tool.name).sort();
      log.appendLine(`tools: ${names.join(", ")}`);
    }),
    vscode.commands.registerCommand("fixture.recall", () => invoke("cognee_recall", { query: "loan periods" })),
    vscode.commands.registerCommand("fixture.remember", () =>
      invoke("cognee_remember", {
        topic: "Returned by an agent",
        context: "An agent stored this.",
        decisions: ["Books are returned at the desk"],
      }),
    ),
  );
  // The chat view finds a model only if somebody has asked for it.
  await vscode.lm.selectChatModels({ vendor: "fixture" });
};
