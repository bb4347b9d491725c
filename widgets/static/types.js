// The shapes of what travels between Python and the page; types only. Python's side is panel.py and the modules of the
// views.

/**
 * @typedef {"forward_pre" | "forward" | "backward_pre" | "backward"} HookKind
 *
 * @typedef {{path: string, label: string, name: string, type: string, depth: number, parameters: number,
 *   shape: string}} CellNode
 * @typedef {{training: boolean, has_bprop: boolean, breaks: string[], hooks: Record<HookKind, number>,
 *   attached: HookKind[]}} CellState
 *
 * @typedef {{state: "ready" | "watching" | "running" | "paused" | "finished", text: string, error: string, watching: boolean}} Status
 *
 * @typedef {{name: string, value: string, changed: boolean}} Local
 * @typedef {{name: string, inputs: string, outputs: string, shown: boolean}} OperatorRecord
 * @typedef {{kind: string, title: string, reason: string, filename: string, function: string,
 *   first_line: number, line: number, lines: string[], locals: Local[], operators: OperatorRecord[],
 *   ran: number, operator: {name: string, where: string, inputs: string[], outputs: string[]} | null,
 *   path: string, can_check: boolean, stack: string[], exception: string, skipped: boolean}} Stop
 *
 * @typedef {{expression: string, text: string, failed: boolean}} Evaluation
 *
 * @typedef {{name: string, shape: string, verdict: string, checked: string, automatic: string, numeric: string,
 *   reason: string}} GradientRow
 * @typedef {{state: "" | "checking" | "done" | "failed", path: string, summary: string, ok: boolean,
 *   rows: GradientRow[]}} GradientCheck
 *
 * @typedef {{path: string, label: string, kind: HookKind, function: string, where: string, own: boolean,
 *   source: string}} HookRow
 * @typedef {{rows: HookRow[], count: number, templates: Record<HookKind, string>, cells: string[]}} Hooks
 * @typedef {{entries: {where: string, text: string, failed: boolean, times: number}[], dropped: number}} HookLog
 * @typedef {{path: string, kind: string, source: string}} HookDraft
 *
 * @typedef {{index: number, step: number, call: number, known: boolean, never: boolean, given: boolean, minimum: number, maximum: number,
 *   mean: number, std: number, nan: number, inf: number, path: string, cell: string, direction: string,
 *   slot: string, context: string, shape: string, dtype: string, origin: string, hits: string, search: string}} CaptureRow
 *
 * @typedef {{index: number, key: string, path: string, step: number, shape: string, sizes: number[], dtype: string,
 *   origin: string, hits: string[], attention: boolean, kept: boolean, value: string, figures: Record<string, string>,
 *   choices: {index: number, label: string}[]}} Selection
 *
 * @typedef {{title: string, rows: number, columns: number, low: number, high: number, minimum: number,
 *   maximum: number, nan: number, positive_inf: number, negative_inf: number, levels: Uint8Array,
 *   numbers: Float64Array}} Picture
 *
 * @typedef {{position: number, name: string, shape: string, dtype: string, requires_grad: boolean, size: number,
 *   known: boolean, mean: number, std: number, minimum: number, maximum: number, norm: number, gradient_norm: number,
 *   update_ratio: number, nan: number, inf: number, search: string,
 *   history: {steps: Float64Array, values: Float64Array} | undefined}} ParameterRow
 *
 * @typedef {{name: string, about: string, own: boolean, on: boolean, pause: boolean, threshold: string,
 *   unit: string, meaning: string, advice: string}} ConditionRow
 * @typedef {{condition: string, path: string, label: string, in_cell: boolean, steps: string, times: number,
 *   message: string, advice: string, source: string, capture: number}} FindingRow
 * @typedef {{condition: string, path: string, label: string}} MutedRow
 * @typedef {{rows: ConditionRow[], findings: FindingRow[], muted: MutedRow[], cells: [string, number, string][],
 *   no_pauses: string, verdict: string}} Conditions
 *
 * @typedef {{cell?: (path: string) => void, capture?: (index: number) => void, findings?: (path: string) => void}} Go
 *   Jumps from one view to another, where the panel has that; a cell by its path or by its name in captures.
 *
 * @typedef {{what: string, text: string, inner: string, value: number | null, can_stop: boolean, stopping: boolean,
 *   open_ended: boolean, note: string}} Progress Long work; without `what` there is none, and perhaps a last word on it.
 *
 * @typedef {(message: {type: string, [field: string]: unknown}) => void} Send
 *
 * @typedef {{get: (name: string) => any, set: (name: string, value: unknown) => void,
 *   on: (event: string, callback: (...args: any[]) => void) => void,
 *   off: (event: string, callback: (...args: any[]) => void) => void,
 *   send: (content: unknown) => void, widget_manager?: {kernel?: Kernel | null}}} Model
 *
 * @typedef {{connect: (slot: () => void) => unknown, disconnect: (slot: () => void) => unknown}} Signal
 * @typedef {{status?: string, connectionStatus?: string, isDisposed?: boolean, statusChanged?: Signal,
 *   connectionStatusChanged?: Signal, disposed?: Signal}} Kernel What JupyterLab knows of a kernel.
 */

export {};
