// What benchmarks/page_speed.py runs in the page: one function or script each, under a heading with its name.

//// ready
new MutationObserver((_, me) => {
  if (!document.querySelector('[aria-current=page]')) return;
  window.interactive = performance.now();
  me.disconnect();
}).observe(document, { subtree: true, attributes: true, childList: true });

//// go
([hash, selector]) => new Promise((done) => {
  const began = performance.now();
  const look = () => {
    if (document.querySelector(selector)) requestAnimationFrame(() => done(performance.now() - began));
    else setTimeout(look, 5);
  };
  location.hash = hash;
  look();
})

//// scroll
() => new Promise((done) => {
  const frame = document.querySelector('.grid-frame');
  const times = [];
  let last = performance.now(), at = 0, most = 0;
  const step = () => {
    const now = performance.now();
    times.push(now - last);
    last = now;
    most = Math.max(most, frame.querySelectorAll('.cell').length);
    if ((at += 1) > 300) return done({ times: times.slice(1), most });
    frame.scrollTop = (at / 300) * frame.scrollHeight;
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
})

//// mark
([iri, liked]) => new Promise((done, failed) => {
  const before = document.querySelector('.said')?.firstElementChild;
  const began = performance.now();
  document.querySelector(`.hits [data-mark="${CSS.escape(iri)}"][data-liked="${liked}"]`).click();
  const look = () => {
    const now = document.querySelector('.said')?.firstElementChild;
    if (now && now !== before) requestAnimationFrame(() => done(performance.now() - began));
    else if (performance.now() - began > 60000) failed(new Error('nothing was said'));
    else setTimeout(look, 5);
  };
  look();
})
