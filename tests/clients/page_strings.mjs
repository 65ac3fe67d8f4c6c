// Finds what the page's modules say in words: which texts are translated, and which stand there untranslated.
//
// node page_strings.mjs FOLDER prints {"texts": [{file, line, text}], "bare": [{file, line, text}]} as JSON.

import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import ts from "typescript";

const folder = process.argv[2];
const TRANSLATING = new Set(["t", "rich"]);
// Words that no reader sees: names of classes and events, media types, selectors, queries, faults of the program.
const UNSEEN_ATTRIBUTES = new Set(["class", "rel", "type", "accept", "d", "viewBox", "transform", "points", "Accept", "font", "headers", "style", "lang", "autocomplete"]);
const UNSEEN_CALLS = /^(?:querySelector(?:All)?|closest|within|matchMedia|getPropertyValue|setProperty|addEventListener|getEntriesByType|field|byId|TypeError|set|getElementById|find|once|\$|on|nodes)$/;

const SEEN_ATTRIBUTES = new Set(["title", "placeholder", "aria-label", "aria-valuetext", "alt"]);
/** What is the same in every language: commands, media types, names of formats. */
const SAME = /^(?:mrag \w+|application\/.*|Turtle|\{\} s)$/;

/** Is it prose: several words, or a word with a capital? */
const prose = (text) => !SAME.test(text) && /[A-Za-z]{2,}[^A-Za-z<>{}]* [a-z]+|^\W*\{\} [a-z]+|^\W*[A-Z][a-z]+(?:$|[ .,:…?])|^\W*[a-z]{3,}[ .,:…?]+$|^ [a-z]{2,}/.test(text);

function* modules(place) {
  for (const name of readdirSync(place).sort()) {
    const path = join(place, name);
    if (statSync(path).isDirectory()) {
      if (name !== "vendor" && name !== "languages") yield* modules(path);
    } else if (name.endsWith(".js") && name !== "language.js") yield path;
  }
}

const nameOf = (call) => (ts.isPropertyAccessExpression(call.expression) ? call.expression.name.text : call.expression.getText());

function unseen(node) {
  for (let at = node; at.parent; at = at.parent) {
    const { parent } = at;
    if (ts.isImportDeclaration(parent) || ts.isImportTypeNode?.(parent) || parent.kind === ts.SyntaxKind.JSDoc) return true;
    if (ts.isPropertyAssignment(parent) && parent.initializer === at && UNSEEN_ATTRIBUTES.has(parent.name.text)) return true;
    if (ts.isPropertyAssignment(parent) && parent.name === at) return true;
    if ((ts.isCallExpression(parent) || ts.isNewExpression(parent)) && parent.arguments?.includes(at)) {
      if (TRANSLATING.has(nameOf(parent)) || nameOf(parent) === "plural") return parent.arguments[0] === at || nameOf(parent) === "plural";
      return UNSEEN_CALLS.test(nameOf(parent));
    }
    if (ts.isBinaryExpression(parent) && /^(?:===|!==|in)$/.test(parent.operatorToken.getText())) return true;
    if (ts.isVariableDeclaration(parent) && /^[A-Z_]+$/.test(parent.name.getText()) && !ts.isNewExpression(at)) {
      if (ts.isStringLiteral(at)) return true;
    }
    if (ts.isBlock(parent)) return false;
  }
  return false;
}

/** Does a single word stand where a reader sees it: as what an element holds, or in an attribute that is read out? */
function seen(node) {
  if (!/^[a-z]{2,}\??$/.test(node.text)) return false;
  let at = node;
  while (ts.isConditionalExpression(at.parent) && at.parent.condition !== at) at = at.parent;
  const { parent } = at;
  if (ts.isCallExpression(parent) && /^(?:h|svg)$/.test(nameOf(parent))) return parent.arguments.indexOf(at) > 1;
  return ts.isPropertyAssignment(parent) && parent.initializer === at && SEEN_ATTRIBUTES.has(parent.name.text);
}

const texts = [];
const bare = [];
for (const path of modules(folder)) {
  const source = ts.createSourceFile(path, readFileSync(path, "utf8"), ts.ScriptTarget.ES2022, true, ts.ScriptKind.JS);
  const at = (node) => ({ file: relative(folder, path), line: source.getLineAndCharacterOfPosition(node.getStart()).line + 1, start: node.getStart(), end: node.getEnd() });
  const visit = (node) => {
    if (ts.isCallExpression(node)) {
      const name = nameOf(node);
      const given = node.arguments.filter((one) => ts.isStringLiteralLike(one)).map((one) => one.text);
      if (TRANSLATING.has(name)) {
        if (given.length) texts.push({ ...at(node), text: given[0] });
        else bare.push({ ...at(node), text: node.getText() });
      } else if (name === "plural") {
        if (given.length === 2) texts.push({ ...at(node), text: given.join("|") });
        else bare.push({ ...at(node), text: node.getText() });
      }
    }
    if (ts.isStringLiteralLike(node) && (seen(node) || (prose(node.text) && !unseen(node)))) bare.push({ ...at(node), text: node.text });
    if (ts.isTemplateExpression(node)) {
      const said = [node.head, ...node.templateSpans.map((span) => span.literal)].map((part) => part.text).join("{}");
      if (prose(said) && !unseen(node)) bare.push({ ...at(node), text: said });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
}
process.stdout.write(JSON.stringify({ texts, bare }));
