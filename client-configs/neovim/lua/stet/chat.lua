-- Chats, and answers to questions of the agent.
local pages, server = require('stet.pages'), require('stet.server')
local M = {}

-- Send what is written under the last `## You` of a chat; the user writes on below it.
function M.send()
  server.run('stet.send', pages.is_page(0) and { uri = vim.uri_from_bufnr(0) } or nil, function()
    vim.defer_fn(function()
      if pages.is_page(0) and vim.fn.mode() == 'n' then vim.cmd.normal({ 'G', bang = true }) end
    end, 300)
  end)
end

-- What a turn waits for: choose an answer, or give it in your own words.
local function answer_of(question)
  local function reply(text) server.run('stet.answer', { question = question.id, text = text }) end
  local function in_words() require('stet.ask').read(question.text .. ' ', reply) end
  local choices, own = vim.list_slice(question.choices), 'In your own words'
  if #choices == 0 then return in_words() end
  if question.kind == 'ask' then table.insert(choices, own) end
  vim.ui.select(choices, { prompt = question.text }, function(choice)
    if choice then (choice == own and in_words or reply)(choice) end
  end)
end

function M.answer()
  local shown = vim.b.lsp_floating_preview -- the question, as it was shown
  if shown and vim.api.nvim_win_is_valid(shown) then vim.api.nvim_win_close(shown, true) end
  server.run('stet.status', nil, function(status)
    local function look(n)
      if not status.turns[n] then return vim.notify('Stet: no question is waiting') end
      server.run('stet.turn', { turn = status.turns[n] }, function(turn)
        if turn.question then answer_of(turn.question) else look(n + 1) end
      end)
    end
    look(1)
  end)
end

-- Prepare the window of a chat.
function M.attach(buffer)
  if not pages.is_chat(buffer) then return end
  vim.wo[0][0].linebreak, vim.wo[0][0].conceallevel = true, 2
  vim.treesitter.start(buffer, 'markdown')
end

-- A chat is written by Stet, which keeps it: leaving it never asks the user to save.
function M.save_all()
  for _, buffer in ipairs(vim.tbl_filter(pages.is_chat, vim.api.nvim_list_bufs())) do
    vim.api.nvim_buf_call(buffer, function() vim.cmd('silent! noautocmd update') end)
  end
end

return M
