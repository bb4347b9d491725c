// The shapes of what travels between Python and the page; types only. Python's side is views.py and panel.py.

/**
 * @typedef {"forward_pre" | "forward" | "backward_pre" | "backward"} HookKind
 *
 * @typedef {{path: string, label: string, name: string, type: string, depth: number, parameters: number,
 *   shape: string, training: boolean, has_bprop: boolean, breakpoint: boolean,
 *   hooks: Record<HookKind, number>, attached: HookKind[]}} CellNode
 *
 * @typedef {{state: "ready" | "watching" | "running" | "paused" | "finished", text: string, error: string}} Status
 *
 * @typedef {{name: string, value: string, changed: boolean}} Local
 * @typedef {{name: string, inputs: string, outputs: string, shown: boolean}} OperatorRecord
 * @typedef {{kind: string, title: string, reason: string, filename: string, function: string,
 *   first_line: number, line: number, lines: string[], locals: Local[], operators: OperatorRecord[],
 *   stack: string[], exception: string, skipped: boolean}} Stop
 *
 * @typedef {{expression: string, text: string, failed: boolean}} Evaluation
 *
 * @typedef {{index: number, step: number, call: number, known: boolean, minimum: number, maximum: number,
 *   mean: number, std: number, nan: number, inf: number, cell: string, direction: string, slot: string,
 *   shape: string, dtype: string, origin: string, hits: string, search: string}} CaptureRow
 *
 * @typedef {{index: number, key: string, step: number, shape: string, dtype: string, origin: string,
 *   hits: string[], value: string, figures: Record<string, string>}} Selection
 *
 * @typedef {{name: string, shape: string, dtype: string, requires_grad: boolean, size: number, mean: number,
 *   std: number, norm: number, gradient_norm: number, search: string}} ParameterRow
 *
 * @typedef {(message: {type: string, [field: string]: unknown}) => void} Send
 *
 * @typedef {{get: (name: string) => any, set: (name: string, value: unknown) => void,
 *   on: (event: string, callback: (...args: any[]) => void) => void,
 *   off: (event: string, callback: (...args: any[]) => void) => void,
 *   send: (content: unknown) => void}} Model
 */

export {};
