// Answers questions about a page. Each is {kind, of}: a kind of question and a
// selector. The answer to each is a list of texts.
(questions) => {
  const maxTexts = 2000, maxText = 65536;
  const text = (t) => String(t ?? "").trim().slice(0, maxText);

  // The elements that match a selector, also in open shadow trees.
  const roots = [document];
  for (let i = 0; i < roots.length && roots.length < 1000; i++) {
    for (const e of roots[i].querySelectorAll("*")) {
      if (e.shadowRoot) roots.push(e.shadowRoot);
    }
  }
  const css = (selector) => roots.flatMap((root) => [...root.querySelectorAll(selector)]).slice(0, maxTexts);
  const xpath = (path) => {
    const found = document.evaluate(path, document, null, XPathResult.FIRST_ORDERED_NODE_TYPE, null).singleNodeValue;
    return found ? [found] : [];
  };

  // The innermost elements that hold a text: any letter case, or exactly if quoted.
  const plain = (t) => String(t ?? "").replace(/\s+/g, " ").trim();
  const labelled = (label) => {
    const exact = /^(["']).*\1$/s.test(label);
    const want = exact ? plain(label.slice(1, -1)) : plain(label).toLowerCase();
    const holds = (e) => exact ? plain(e.textContent) === want : plain(e.textContent).toLowerCase().includes(want);
    for (const e of css("body *, body")) {
      if (!/^(SCRIPT|STYLE|NOSCRIPT)$/.test(e.tagName) && holds(e) && ![...e.children].some(holds)) return [e];
    }
    return [];
  };

  const answer = {
    texts: (of) => css(of).map((e) => text(e.textContent)),
    own: (of) => css(of).slice(0, 1).flatMap((e) => [...e.childNodes].filter((n) => n.nodeType === Node.TEXT_NODE)
      .map((n) => text(n.textContent)).filter(Boolean)),
    headings: (of) => css(of).map((e) => e.querySelector("h3")).filter(Boolean).map((e) => text(e.textContent)),
    products: (of) => css(of + " li.catAllProducts").map((e) => e.querySelector("span")).filter(Boolean)
      .map((e) => text(e.innerText)),
    label: (of) => labelled(of).map((e) => text(e.textContent)),
    xpath: (of) => xpath(of).map((e) => text(e.textContent)),
    input: (of) => xpath(of).map((e) => text(e.value)),
  };
  return questions.map(({kind, of}) => {
    try {
      return answer[kind](of);
    } catch (e) {
      return []; // a selector that is none finds nothing
    }
  });
}
