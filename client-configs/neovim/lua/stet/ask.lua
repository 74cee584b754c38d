-- Questions to the agent, what they would send, and search.
local pages, selection, server = require('stet.pages'), require('stet.selection'), require('stet.server')
local M = {}

-- Ask for a text in the command line; an empty one is no text. A selection ends with it.
function M.read(prompt, use)
  vim.ui.input({ prompt = prompt }, function(text)
    if vim.fn.mode():match('^[vV\22]') then vim.cmd.normal({ '\27', bang = true }) end
    if (text or '') ~= '' then use(text) end
  end)
end

-- Ask in a mode of the server (`agent`, `ask`, `rewrite`), with a prompt that is given or typed.
function M.ask(mode, given)
  local question = selection.question(given.lines)
  question.mode = mode
  local function send(prompt) server.run('stet.ask', vim.tbl_extend('error', question, { prompt = prompt })) end
  if (given.text or '') ~= '' then return send(given.text) end
  M.read('Stet: ', send)
end

-- Show exactly what a question would send, beside the text; nothing is sent.
function M.show_context(given)
  local question = pages.is_page(0) and {} or selection.question(given.lines)
  question.prompt = '(your question)'
  server.run('stet.showContext', question, function(context)
    local text = { ('About %d tokens would be sent, with your question:'):format(context.tokens) }
    for _, section in ipairs(context.sections) do
      table.insert(text, ('\n# %s (%d tokens)\n\n%s'):format(section.name, section.tokens, section.text))
    end
    vim.cmd('botright vnew')
    vim.bo.buftype, vim.bo.bufhidden, vim.wo.linebreak = 'nofile', 'wipe', true
    vim.api.nvim_buf_set_lines(0, 0, -1, false, vim.split(table.concat(text, '\n'), '\n'))
  end)
end

-- Attach the file to all questions (`add`), or detach it (`remove`).
function M.attach(how)
  server.run('stet.context', { [how] = vim.uri_from_bufnr(0) }, function(now)
    vim.notify('Stet: attached: ' .. (#now.files > 0 and table.concat(now.files, ', ') or 'no file'))
  end)
end

-- Name the selected lines in the prompt of each Claude Code that is connected.
function M.send_selection(given) server.run('stet.sendSelection', selection.question(given.lines)) end

-- Find places by a description; they come into the quickfix list.
function M.search(given)
  local function item(found)
    local text = found.title ~= '' and found.title or found.excerpt:match('[^\n]+')
    return { filename = vim.uri_to_fname(found.uri), lnum = found.range.start.line + 1, text = text }
  end
  local function search(query)
    server.run('stet.search', { query = query }, function(found)
      require('stet.status').open_list(query, vim.tbl_map(item, found))
    end)
  end
  if (given.text or '') ~= '' then return search(given.text) end
  M.read('Stet, find: ', search)
end

return M
