// The interface of a model, as anywidget documents it: https://anywidget.dev/en/afm/
async ([module, value]) => {
  const { default: widget } = await import("data:text/javascript;base64," + module);
  const state = { value, asked: {} }, listening = new Map();
  const model = {
    get: (name) => state[name],
    set: (name, given) => { state[name] = given; },
    on: (event, then) => listening.set(then, event),
    off: (event, then) => listening.delete(then),
    save_changes: async () => {
      state.value = JSON.parse(await window.act(JSON.stringify(state.asked)));
      for (const [then, event] of listening) if (event === "change:value") then();
    },
  };
  window.ended = await widget.render({ model, el: document.body });
}
