() => {
  const plain = (text) => text.replace(/\u00a0/g, ' ').replace(/[\u200b\u200c\u200d]/g, '');
  const byTop = (a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top;
  const all = (root, selector) => [...root.querySelectorAll(selector)];

  const colors = (root) => {
    const probe = root.appendChild(document.createElement('i'));
    const of = (name) => {
      if (!getComputedStyle(root).getPropertyValue(`--vscode-${name}`)) return undefined;
      probe.style.color = `var(--vscode-${name})`;
      return getComputedStyle(probe).color;
    };
    const found = {
      d: of('diffEditor-removedLineBackground'),
      D: of('diffEditor-removedTextBackground'),
      a: of('stet-insertedBackground'),
      A: of('diffEditor-insertedLineBackground'),
      c: of('stet-conflictBackground'),
      p: of('stet-pendingForeground'),
      w: of('list-warningForeground'),
    };
    probe.remove();
    return found;
  };
  const letterOf = (known, color) => Object.keys(known).find((letter) => known[letter] === color);

  const SIGNS = { 'M3 10': '~', 'M3 8 H13': '-', 'M8 3': '+', 'M8 2.5': '!' };
  const signOf = (element) => {
    const [, data] = getComputedStyle(element).backgroundImage.match(/base64,([^"')]+)/) ?? [];
    const path = data && atob(data).match(/ d="([^"]+)"/)?.[1];
    return Object.entries(SIGNS).find(([start]) => path?.startsWith(start))?.[1];
  };

  /** One visual row of an editor as [[text, letter], ...], letters '' for the background. */
  const cells = (line, overlays, known) => {
    const found = [];
    const ghost = (part, pseudo) => {
      const style = getComputedStyle(part, pseudo);
      if (style.content === 'none' || style.content === 'normal' || !style.content.startsWith('"')) return;
      const letter = letterOf(known, style.backgroundColor) ?? '';
      if (parseFloat(style.marginLeft) > 4) found.push(['  ', '']);
      found.push([plain(JSON.parse(style.content)), letter]);
    };
    const walk = (node) => {
      if (node.nodeType === Node.TEXT_NODE) {
        const range = document.createRange();
        const isStruck = getComputedStyle(node.parentElement).textDecorationLine.includes('line-through');
        for (let at = 0; at < node.data.length; at++) {
          range.setStart(node, at);
          range.setEnd(node, at + 1);
          const { left, width } = range.getBoundingClientRect();
          const here = overlays.filter((one) => one.left <= left + width / 2 && left + width / 2 < one.right);
          const letters = here.map(({ letter }) => letter);
          const letter = letters.includes('D') ? 'D' : letters[0] ?? '';
          if ((letter === 'D') !== isStruck) found.push([plain(node.data[at]), 'x']);
          else found.push([plain(node.data[at]), letter]);
        }
        return;
      }
      ghost(node, '::before');
      node.childNodes.forEach(walk);
      ghost(node, '::after');
    };
    line.childNodes.forEach(walk);
    return found.filter(([text]) => text);
  };

  const editorRows = (editor) => {
    const known = colors(editor);
    const inside = editor.querySelector('.lines-content').parentElement.getBoundingClientRect();
    const isSeen = ({ top, bottom }) => top >= inside.top - 1 && bottom <= inside.bottom + 1;
    const overlays = all(editor, '.view-overlays .cdr').map((part) => {
      const { top, left, right } = part.getBoundingClientRect();
      const style = getComputedStyle(part);
      const isDashed = (side) => style[`border${side}Style`] === 'dashed' && parseFloat(style[`border${side}Width`]) > 0;
      const isWhole = part.offsetWidth >= part.parentElement.offsetWidth;
      const edge = isDashed('Top') ? 'top' : isDashed('Bottom') ? 'bottom' : undefined;
      // The colours of removed lines and words may be the same: they add up. Words have a border.
      const isWord = style.borderTopStyle === 'solid' && parseFloat(style.borderTopWidth) > 0;
      const letter = letterOf(known, style.backgroundColor);
      return { top, left, right, isWhole, edge, letter: letter === 'd' && isWord ? 'D' : letter };
    });
    const at = (elements, top) => elements.find((one) => Math.abs(one.getBoundingClientRect().top - top) < 3);
    const numbers = all(editor, '.margin .line-numbers');
    const signs = all(editor, '.glyph-margin-widgets .cgmr');
    const rows = all(editor, '.view-line').filter((line) => isSeen(line.getBoundingClientRect())).map((line) => {
      const { top } = line.getBoundingClientRect();
      const here = overlays.filter((one) => Math.abs(one.top - top) < 3);
      const painted = here.filter(({ letter }) => letter);
      const sign = signs.filter((one) => Math.abs(one.getBoundingClientRect().top - top) < 3).map(signOf).find(Boolean);
      return {
        top, sign: sign ?? ' ', number: at(numbers, top)?.textContent.trim() ?? '',
        whole: painted.filter(({ isWhole }) => isWhole).map(({ letter }) => letter),
        edges: here.map(({ edge }) => edge).filter(Boolean),
        cells: cells(line, painted, known),
      };
    });
    const lenses = all(editor, '.codelens-decoration').filter((lens) => isSeen(lens.getBoundingClientRect()))
      .map((lens) => ({ top: lens.getBoundingClientRect().top, lens: plain(lens.innerText).replace(/\s*\|\s*/g, ' | ').trim() }))
      .filter(({ lens }) => lens);
    return [...rows, ...lenses].sort((a, b) => a.top - b.top);
  };

  const explorer = document.querySelector('.explorer-folders-view');
  const known = explorer && colors(explorer);
  const files = explorer ? all(explorer, '.monaco-list-row').sort(byTop).map((row) => {
    const label = row.querySelector('.label-name');
    const badge = getComputedStyle(row.querySelector('.monaco-icon-label'), '::after').content;
    const isBadge = badge.startsWith('"');
    return { name: plain(label.textContent), badge: isBadge ? JSON.parse(badge) : '', letter: letterOf(known, getComputedStyle(label).color) };
  }) : [];

  const groups = all(document, '.editor-group-container').filter((group) => group.offsetWidth > 0)
    .sort((a, b) => a.getBoundingClientRect().left - b.getBoundingClientRect().left).map((group) => {
      const tab = group.querySelector('.tab.active');
      const isPage = tab?.dataset.resourceName.startsWith('webview-');
      const editors = all(group, '.editor-instance .monaco-editor').filter((one) => one.offsetWidth > 0);
      return {
        tab: plain(isPage ? tab.querySelector('.label-name').innerText : tab?.dataset.resourceName ?? ''),
        isDirty: tab?.classList.contains('dirty') ?? false,
        hasFocus: group.contains(document.activeElement) && document.activeElement !== document.body,
        editors: editors.map(editorRows),
      };
    });
  const toasts = all(document, '.notification-toast').filter((toast) => toast.offsetWidth > 0).map((toast) => ({
    text: plain(toast.querySelector('.notification-list-item-message').innerText),
    buttons: all(toast, '.notification-list-item-buttons-container .monaco-button').map((button) => plain(button.innerText.trim())).filter(Boolean),
  }));
  const status = document.querySelector('[id="stet.stet.stet.status"]')?.innerText.replace(/\s+/g, ' ').trim() ?? '';
  const cursor = document.querySelector('[id="status.editor.selection"]')?.innerText.trim() ?? '';
  return { files, groups, toasts, status, cursor };
}
