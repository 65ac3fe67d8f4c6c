() => [...document.querySelectorAll('button, input, a, select')]
  .filter(e => e.offsetParent && !e.closest('.yasqe'))
  .filter(e => !(e.innerText || e.textContent || '').trim() && !e.getAttribute('aria-label')
    && !(e.labels && e.labels.length))
  .map(e => e.outerHTML.slice(0, 120))
