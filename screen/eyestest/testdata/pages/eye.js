// Tells the server each element that the pointer reaches, innermost first, and what
// is chosen or clicked.
const told = e => {
  const named = e.getAttribute('aria-label') || e.placeholder || e.alt || (e.labels && e.labels.length && e.labels[0].innerText) || e.innerText || '';
  return {tag: e.localName, type: e.type || '', size: e.localName === 'select' ? e.size : 0,
    name: e.localName === 'html' ? document.title : named.trim().slice(0, 500), value: String(e.value ?? '').slice(0, 200)};
};
const send = (kind, e, ev) => {
  const path = [];
  for (let n = e; n && n.nodeType === 1; n = n.parentElement) path.push(told(n));
  fetch('/event', {method: 'POST', body: JSON.stringify({kind, x: ev ? ev.screenX : 0, y: ev ? ev.screenY : 0, path})});
};
addEventListener('mousemove', ev => send('move', ev.target, ev), true);
addEventListener('click', ev => send('click', ev.target, ev), true);
addEventListener('change', ev => send('change', ev.target), true);
