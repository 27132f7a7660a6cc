/* Browsers refuse workers to pages that are read from the disk. There the search runs in a hidden frame instead. */
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      this.waiting = [];
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.appendChild(frame);
      this.inner = frame.contentWindow;
      const page = frame.contentDocument;
      page.open();
      page.write("<!doctype html><html><body></body></html>");
      page.close();
      this.inner.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const script = page.createElement("script");
      script.src = url;
      script.onload = () => {
        this.ready = true;
        this.waiting.splice(0).forEach((data) => this.postMessage(data));
      };
      page.body.appendChild(script);
    }

    postMessage(data) {
      if (!this.ready) this.waiting.push(data);
      else this.inner.dispatchEvent(new this.inner.MessageEvent("message", { data }));
    }

    terminate() {}
  };
  window.Worker = window.IFrameWorker;
}
