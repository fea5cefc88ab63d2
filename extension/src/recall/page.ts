/** Markdown as the page of an editor: it runs nothing, and loads nothing. */

import * as vscode from "vscode";

const STYLE = `body { max-width: 50em; margin: 0 auto; padding: 1em 2em 3em; line-height: 1.5; }
h1, h2 { font-weight: 600; line-height: 1.25; }
h1 { font-size: 1.6em; }
h2 { font-size: 1.2em; margin-top: 1.6em; }
table { border-collapse: collapse; }
th, td { padding: 0.3em 0.7em; text-align: left; border-bottom: 1px solid var(--vscode-panel-border); }
blockquote { margin: 0; padding: 0 1em; border-left: 3px solid var(--vscode-textBlockQuote-border); }
hr { margin-top: 2em; border: 0; border-top: 1px solid var(--vscode-panel-border); }
hr + p { color: var(--vscode-descriptionForeground); }`;

/** The page of a Markdown text, rendered by the editor. */
export async function pageOf(markdown: string): Promise<string> {
  return `<!DOCTYPE html>
<html lang="${vscode.env.language}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>${STYLE}</style>
</head>
<body class="vscode-body">
<main>
${await rendered(markdown)}
</main>
</body>
</html>`;
}

async function rendered(markdown: string): Promise<string> {
  try {
    return await vscode.commands.executeCommand<string>("markdown.api.render", markdown);
  } catch {
    // the editor's Markdown extension is turned off
    const text = markdown.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
    return `<pre style="white-space: pre-wrap">${text}</pre>`;
  }
}
