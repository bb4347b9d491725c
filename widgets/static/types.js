// What the page's modules have in common; types only. Those of what travels between Python and the page are made from
// Python (page_types.py), and stand in python.js.

/**
 * @typedef {Partial<Record<string, (there: any) => void>>} Go
 *   Jumps from one view to another, where the panel has that: by what a view leads to, a cell by its path, say.
 *
 * @typedef {object} ViewContext What a view is given.
 * @property {Send} send
 * @property {Go} go
 * @property {() => void} open makes it the view that is looked at
 * @property {(found: number) => void} count says on its tab how much was found
 * @property {(trait: string, value: unknown) => void} keep for the other displays of this panel
 *
 * @typedef {object} ViewPart What a view is to the panel.
 * @property {HTMLElement} element
 * @property {[string[], (...values: any[]) => void][]} [traits] what is drawn when which traits change
 * @property {{[Type in Sent["type"]]?: (message: Extract<Sent, {type: Type}>, buffers: DataView[]) => void}} [messages]
 *   what is done with which messages
 * @property {(there: any) => void} [reveal] shows what `go` was given
 * @property {() => void} [draw] it is looked at from now on
 * @property {(action: string) => void} [answered] Python has dealt with a message
 * @property {(now: boolean) => void} [setPaused]
 * @property {{key: (event: KeyboardEvent) => boolean, ends: (event: KeyboardEvent) => boolean}} [keys] of a pause
 * @property {HTMLElement[]} [next] buttons for the line above the views, each hidden while it is not the one thing to do
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
 *   send: (content: unknown) => void, widget_manager?: {kernel?: Kernel | null}}} Model
 *
 * @typedef {{connect: (slot: () => void) => unknown, disconnect: (slot: () => void) => unknown}} Signal
 * @typedef {{status?: string, connectionStatus?: string, isDisposed?: boolean, statusChanged?: Signal,
 *   connectionStatusChanged?: Signal, disposed?: Signal}} Kernel What JupyterLab knows of a kernel.
 */

export {};
