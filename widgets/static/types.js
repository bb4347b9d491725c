// Types shared by the page's modules. Types of messages between Python and the page are generated from Python
// (message_types.py) into python.js.

/**
 * @typedef {Partial<Record<string, (there: any) => void>>} Go
 *   Jumps from one view to another, if the panel contains it, by the target's name; a cell by its path, for example.
 *
 * @typedef {object} ViewContext The arguments of a view.
 * @property {Send} send
 * @property {Go} go
 * @property {() => void} open selects this view
 * @property {(found: number) => void} count shows the number of findings on its tab
 * @property {(trait: string, value: unknown) => void} keep stores a value for the other displays of this panel
 *
 * @typedef {object} ViewPart A view's interface to the panel.
 * @property {HTMLElement} element
 * @property {[string[], (...values: any[]) => void][]} [traits] traits, and the functions that draw their changes
 * @property {{[Type in Sent["type"]]?: (message: Extract<Sent, {type: Type}>, buffers: DataView[]) => void}} [messages]
 *   handlers of messages by type
 * @property {(there: any) => void} [reveal] shows the target of a jump
 * @property {() => void} [draw] called when the view is selected
 * @property {(action: string) => void} [confirmed] called when Python has handled a message
 * @property {(now: boolean) => void} [setPaused]
 * @property {{key: (event: KeyboardEvent) => boolean, ends: (event: KeyboardEvent) => boolean}} [keys] keyboard
 *   handlers during a pause
 * @property {HTMLElement[]} [next] buttons for the heading above the views, hidden unless they are the next suggested
 *   action
 * @property {() => void} [destroy]
 *
 * @typedef {{title: string, leads_to: string, live: string[], background: string[],
 *   create: (context: ViewContext) => ViewPart}} ViewKind
 *
 * @typedef {import("./python.js").Sent} Sent
 * @typedef {(message: import("./python.js").Asked) => void} Send
 *
 * @typedef {{get: (name: string) => any, set: (name: string, value: unknown) => void,
 *   on: (event: string, callback: (...args: any[]) => void) => void,
 *   off: (event: string, callback: (...args: any[]) => void) => void,
 *   send: (content: unknown) => void, widget_manager?: {kernel?: Kernel | null, context?: {model?: {cells?: Cells}}}}} Model
 *
 * @typedef {{length: number, get: (index: number) => {id?: string} | undefined}} Cells The cells of a notebook.
 * @typedef {{connect: (slot: () => void) => unknown, disconnect: (slot: () => void) => unknown}} Signal
 * @typedef {{status?: string, connectionStatus?: string, isDisposed?: boolean, statusChanged?: Signal,
 *   connectionStatusChanged?: Signal, disposed?: Signal}} Kernel What JupyterLab knows of a kernel.
 */

export {};
