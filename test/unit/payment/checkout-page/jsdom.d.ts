// The published types bring all of the DOM into every file of the project; tests need this much of it.
declare module 'jsdom' {
  export interface PageElement {
    value: string;
    selectionStart: number;
    disabled: boolean;
    readonly textContent: string;
    readonly dataset: Record<string, string>;
    readonly outerHTML: string;
    getAttribute(name: string): string | null;
    hasAttribute(name: string): boolean;
    setSelectionRange(start: number, end: number): void;
    requestSubmit(submitter?: PageElement): void;
    dispatchEvent(event: object): boolean;
    querySelector(selector: string): PageElement | null;
    querySelectorAll(selector: string): Iterable<PageElement>;
  }

  export interface PageEvent {
    readonly defaultPrevented: boolean;
  }

  export interface PageDocument extends PageElement {
    readonly title: string;
    readonly documentElement: PageElement;
    addEventListener(type: string, listener: (event: PageEvent) => void): void;
  }

  export interface PageWindow {
    readonly document: PageDocument;
    readonly Event: new (type: string, options?: { bubbles?: boolean; cancelable?: boolean }) => PageEvent;
    readonly DOMParser: new () => { parseFromString(html: string, type: 'text/html'): PageDocument };
    eval(source: string): unknown;
    close(): void;
  }

  export class JSDOM {
    constructor(
      html: string,
      options?: {
        url?: string;
        pretendToBeVisual?: boolean;
        runScripts?: 'dangerously' | 'outside-only';
        virtualConsole?: VirtualConsole;
        beforeParse?: (window: Record<string, unknown>) => void;
      },
    );
    readonly window: PageWindow;
  }

  export class VirtualConsole {
    on(event: 'jsdomError', listener: (error: Error) => void): this;
  }
}
