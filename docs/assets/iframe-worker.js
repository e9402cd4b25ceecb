// Browsers forbid web workers on pages that are opened from a folder (file:), and the search of the theme is
// such a worker. Here it runs in a hidden frame instead, which receives and sends the same messages.
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.srcdoc = "<!doctype html><title>search</title>";
      this.ready = new Promise((resolve, reject) => {
        this.frame.addEventListener("load", () => this.start(url).then(resolve, reject), { once: true });
      });
      document.body.append(this.frame);
    }

    // What a worker finds in its scope: messages to the page, and scripts on demand.
    start(url) {
      const inner = this.frame.contentWindow;
      inner.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      inner.importScripts = (...urls) =>
        urls.reduce((before, one) => before.then(() => addScript(inner.document, one)), Promise.resolve());
      return addScript(inner.document, url);
    }

    postMessage(data) {
      this.ready.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })));
    }

    terminate() {
      this.frame.remove();
    }
  };
  window.Worker = window.IFrameWorker;

  function addScript(page, url) {
    return new Promise((resolve, reject) => {
      const script = page.createElement("script");
      script.src = url;
      script.onload = resolve;
      script.onerror = () => reject(new Error(`${url} cannot be read.`));
      page.head.append(script);
    });
  }
}
