// What the server's JSON API returns, and what the modules of the page hand to each other.

/** An RDF term, as the SPARQL 1.1 JSON results format has it. */
export interface Term {
  type: string;
  value: string;
  datatype?: string;
  "xml:lang"?: string;
}

/** A cell of a table: a term with its label. */
export type Cell = Term & { label: string };

export type Labels = [string, string, string];

export interface Statement {
  triple: { s: Term; p: Term; o: Term };
  labels: Labels;
}

/** A triple of the graph, and where it comes from; of a context it has an id, and the entity it is about. */
export interface TripleRow extends Statement {
  status: string;
  graph?: string | null;
  id?: string;
  entity?: string;
}

export interface ProofStep extends Statement {
  status: string;
  rule: string | null;
  axiom: string | null;
  premises: ProofStep[];
}

/** One direction of an entity's triples; `more` names the predicates of which there are more. */
export interface Side {
  triples: TripleRow[];
  more: string[];
}

export interface TypeOf {
  iri: string;
  label: string;
  status: string;
}

/** A hit of a list. */
export interface Hit {
  iri: string;
  label: string;
  individual: boolean;
}

export interface FoundHit extends Hit {
  types: TypeOf[];
  description: string | null;
  reasons: string[];
}

export interface GraphNode {
  id: string;
  label: string;
  kind: string;
}

export interface GraphEdge {
  s: string;
  p: string;
  o: string;
  label: string;
  status: string;
  line: string;
}

export interface Neighbourhood {
  centre: string;
  nodes: GraphNode[];
  edges: GraphEdge[];
}

/** An image that the graph names: `src` where the server has it, `link` where it is on the web. */
export interface NamedImage {
  entity: string;
  label: string;
  name: string;
  src: string | null;
  link: string | null;
}

export interface EntityPage {
  iri: string;
  label: string;
  types: TypeOf[];
  description: string | null;
  out: Side;
  in: Side;
  images: NamedImage[];
  neighbourhood: Neighbourhood;
}

export interface Path {
  path: TripleRow[] | null;
  complete: boolean;
}

export interface About {
  version: string;
  name: string;
  triples: { asserted: number; inferred: number };
  prefixes: Record<string, string>;
  model: { name: string; available: boolean };
  sparql: string;
  update: boolean;
}

export interface ClassRow {
  iri: string;
  label: string;
  instances: number;
  above: string[];
}

export interface Schema {
  classes: ClassRow[];
  properties: { iri: string; label: string; triples: number }[];
  graphs: string[];
  more: boolean;
  examples: string[];
}

export interface ReadyQuery {
  name: string;
  title: string;
  summary: string;
  text: string;
  runs: boolean;
  common: boolean;
}

export interface QueryFolder {
  folder: string;
  queries: ReadyQuery[];
}

export interface SavedQuery {
  name: string;
  text: string;
  comment: string;
}

export interface RankerInfo {
  name: string;
  summary: string;
  usable: boolean;
  own: boolean;
  why?: string;
}

export interface PlannedUpdate {
  added: number;
  removed: number;
  inferred: string;
  adds: Statement[];
  removes: Statement[];
}

/** The rows of a SELECT query. */
export interface Bindings {
  head: { vars?: string[] };
  results: { bindings: Record<string, Term>[] };
  boolean?: boolean;
}

// -- answers ---------------------------------------------------------------------------------------------

export interface Sentence {
  text: string;
  before: string;
  citations: string[];
  supported: boolean;
  verdict: string;
  left: string[];
}

export interface Citation extends TripleRow {
  id: string;
}

export type Row = (Cell | null)[];

export interface Reading {
  number: number;
  reading: string;
  answer: string;
}

export interface Answer {
  question: string;
  text: string;
  model: string | null;
  notice: string | null;
  way: string;
  why: string;
  sentences: Sentence[];
  citations: Citation[];
  context: { lines: Citation[] };
  reading: string | null;
  plan: object | null;
  follows?: Follows;
  query: string | null;
  columns: string[];
  rows: Row[];
  doubt: string;
  ignored: string[];
  readings: Reading[];
  truncated: boolean;
  runners_up: Row[];
  last: Row;
  words?: WordUse[];
}

/** Words of a question with where they stand in it, in characters. */
export interface QuestionWords {
  text: string;
  start: number;
  end: number;
}

/** What words of a question became in its plan; null of what no word says. */
export interface WordUse {
  words: QuestionWords | null;
  does: string;
  name: string;
  iri: string;
  value: string;
  how: string;
  cues: QuestionWords[];
}

/** A question with all that decides its answer. */
export interface Asked {
  question: string;
  how: string;
  reading: number;
  after: [string, number][];
  ranker?: string;
  only?: string;
}

/** What a computed answer gives to the question that follows it. */
export interface Follows {
  question: string;
  plan: object;
  columns: string[];
  why: string;
  follows?: Follows;
}

/** An answer with what stands beside it. */
export interface WholeAnswer {
  answer: Answer;
  pictures: Neighbourhood[];
  images: NamedImage[];
  listed?: Hit[];
  hits?: FoundHit[];
}

export type AnswerEvent =
  | { event: "found"; hits: FoundHit[]; model: string }
  | { event: "text"; text: string }
  | ({ event: "answer" } & WholeAnswer);

export interface VerifyReport {
  ok: boolean;
  checked: number;
  complete: boolean;
  said: string;
  question: string;
  text: string;
  revision: number | null;
  now: number;
}

export interface Receipt {
  "@id": string;
  "schema:review": { "schema:reviewBody": string };
}

// -- concepts --------------------------------------------------------------------------------------------

/** A concept that marks may mean. */
export interface Alternative {
  length: number;
  sentence: string;
  concept: string;
  manchester: string;
  sparql: string;
  count: string;
  precision: number | null;
  covered: string[];
  counts: { tp: number; fp: number; positives: number; negatives: number };
}

/** What was learnt from marks. */
export interface Learnt {
  alternatives: Alternative[];
  chosen: number;
  assumed: string[];
  proposals: string[];
}

export interface KeptConcept {
  iri: string;
  label: string;
  comment: string;
  members: number;
  manchester: string;
}

export interface KeptConcepts {
  concepts: KeptConcept[];
  pending: boolean;
  writable: boolean;
}

/** Why something is in a concept. */
export interface Reason {
  words: string;
  holds: boolean;
  subject: string;
  triples: TripleRow[];
  absent: string[];
  parts: Reason[];
  more: number;
}

/** Why a hit is in a concept or not. */
export interface Why {
  holds: boolean;
  reason: Reason;
}

// -- health ----------------------------------------------------------------------------------------------

export type PartName = "inference" | "index";

export interface PartState {
  state: string;
  running: boolean;
  failed: { message: string; hint: string | null } | null;
}

/** The state of what answers rest on. */
export interface GraphState {
  triples: number;
  writable: boolean;
  /** Whether the server is bringing both up to date with the last change by itself. */
  following: boolean;
  inference: PartState;
  index: PartState & { name: string; documents: number | null; embedder: string | null; later: string | null; message?: string };
}

export interface RunningQuery {
  id: number;
  seconds: number;
  text: string;
  stoppable: boolean;
}

export interface NotedError {
  time: string;
  where: string;
  status: number | null;
  type: string;
  message: string;
  hint: string | null;
}

export interface HealthState extends GraphState {
  queries: RunningQuery[];
  waiting: number;
  changing: boolean;
  errors: NotedError[];
}

export interface Check {
  what: string;
  ok: boolean | null;
  found: string;
  hint: string | null;
}

// -- images ----------------------------------------------------------------------------------------------

export interface GraphImage extends Hit {
  file: string;
  there: boolean;
  reasons?: string[];
}

export interface Facet {
  iri: string;
  label: string;
  count: number;
}

export interface Gallery {
  images: number;
  total: number;
  page: number;
  before: string[];
  media: boolean;
  pictures: string | null;
  facets: Record<string, Facet[]>;
  reading: boolean;
}

export interface ImagePart {
  iri: string;
  label: string;
  attributes: string[];
  boxes: [number, number, number, number][];
  masks: number[][];
  out: Side;
  number: number;
}

export interface ImagePage extends GraphImage {
  out: Side;
  size: [number, number] | null;
  parts: ImagePart[];
  before: string | null;
  after: string | null;
}

// -- review ----------------------------------------------------------------------------------------------

/** A run of completion, as the list has it. */
export interface RunHead {
  iri: string;
  id: string;
  question: string;
  state: string;
  model: string | null;
  started: string;
  decided: string | null;
}

export interface Runs {
  runs: RunHead[];
  number: number;
  enrichments: { iri: string; model: string; descriptions: number; last: string }[];
  writable: boolean;
}

/** What a proposed triple rests on: words in their passage, or a part of an image. */
export interface Quoted {
  quote: string;
  source: string;
  kind: string;
  before: string;
  after: string;
  image: string | null;
  box: [number, number, number, number] | null;
  size: [number, number] | null;
}

export interface Proposal extends Statement {
  key: string;
  confidence: number;
  verdict: string;
  objections: string[];
  evidence: Quoted[];
}

/** A run with its triples; `entered` and `removed` are there when it was just decided. */
export interface ReviewedRun extends RunHead {
  statements: Proposal[];
  number: number;
  writable: boolean;
  entered?: number;
  removed?: number;
}

type Objected = Statement & { objections?: string[] };

/** What accepting some triples would change. */
export interface Foreseen {
  adds: Objected[];
  refused: Objected[];
  infers: Objected[];
  inferred: number | null;
}

export interface Enrichment {
  iri: string;
  texts: { iri: string; label: string; text: string; image: string | null }[];
}

// -- the page itself -------------------------------------------------------------------------------------

/** What the address gives a section; only what it gives is there. */
export type Values = Record<string, string | undefined>;

export type Go = (name: string, values: Record<string, string>, options?: { replace?: boolean }) => void;

/** One view of the page. */
export interface Section {
  start: (go: Go) => void;
  enter: (values: Values, go: Go) => unknown;
  leave?: () => unknown;
}

/** What an element can hold: nodes, text, and lists of them; nothing where it is null or false. */
export type Child = Node | string | number | null | undefined | false | readonly Child[];

type Handlers = { [K in keyof GlobalEventHandlersEventMap as `on${K}`]?: (event: GlobalEventHandlersEventMap[K]) => unknown };

export type Attributes = Handlers & { [name: string]: unknown };

/** What can be drawn as a chart. */
export interface Table {
  columns: string[];
  rows: Row[];
}

/** A neighbourhood's link as the drawing shows it: all triples between the middle and one neighbour. */
export interface Spoke {
  node: GraphNode;
  out: boolean;
  edges: GraphEdge[];
  label: string;
  inferred: boolean;
  cited: boolean;
}

// -- libraries of others, as far as the page uses them ---------------------------------------------------

interface EditorToken {
  string: string;
  autocompletionString?: string;
}

export interface Editor {
  getValue(): string;
  setValue(text: string): void;
  refresh(): void;
  focus(): void;
  on(event: string, then: () => void): void;
  lineCount(): number;
  getLineTokens(line: number): EditorToken[];
  getQueryMode(): string;
  getMode(): { startState: (...given: unknown[]) => object };
  getInputField(): HTMLElement;
}

interface YasqeClass {
  new (place: HTMLElement, settings: object): Editor;
  forkAutocompleter(from: string, settings: object, enable: boolean): void;
  defaults: { autocompleters: string[] };
}

interface Drawn {
  id(): string;
  data(name: string): string;
  position(): { x: number; y: number };
  empty(): boolean;
  nonempty(): boolean;
  hasClass(name: string): boolean;
  addClass(name: string): void;
  removeClass(name: string): void;
  toggleClass(name: string): void;
  select(): void;
  unselect(): void;
  remove(): void;
  lock(): void;
  unlock(): void;
  map<T>(of: (one: Drawn) => T): T[];
  length: number;
  [at: number]: Drawn;
}

export interface Cytoscape {
  add(elements: object): void;
  nodes(selector?: string): Drawn;
  edges(): Drawn;
  elements(): Drawn;
  $(selector: string): Drawn;
  getElementById(id: string): Drawn;
  layout(settings: object): { run(): void };
  on(event: string, selector: string, then: (event: { target: Drawn }) => void): void;
  mount(place: HTMLElement): void;
  resize(): void;
  fit(elements: undefined, padding: number): void;
  zoom(level?: number): number;
  center(element: Drawn): void;
  png(settings: object): string;
}

declare global {
  interface Window {
    Yasqe: YasqeClass;
    cytoscape: (settings: object) => Cytoscape;
  }
}
