// Tells the server each element that the pointer reaches, innermost first, and what
// is chosen or clicked.

// The label that an element is in is what else is in that.
const labelled = e => {
  if (!e.labels || !e.labels.length) return '';
  const label = e.labels[0].cloneNode(true);
  for (const control of label.querySelectorAll('select, textarea')) control.remove();
  return label.textContent;
};
const told = e => {
  const named = e.getAttribute('aria-label') || e.placeholder || e.alt || labelled(e) || e.innerText || '';
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
