-- Chats, and answers to questions of the agent.
local keys, pages, server = require('stet.keys'), require('stet.pages'), require('stet.server')
local window = require('stet.chat_window')
local M = {}

-- Send what is written under the last `## You` of a chat; the user writes on below it.
function M.send()
  if not pages.is_page(0) then return server.run('stet.send') end
  window.go_to_end() -- which is followed from then on
  server.run('stet.send', { uri = vim.uri_from_bufnr(0) })
end

-- Return how long ago a time was (ISO 8601), in words; empty if the server knows none.
local function ago(updated)
  if type(updated) ~= 'string' then return '' end
  local year, month, day, hour, min, sec = updated:match('(%d+)-(%d+)-(%d+)T(%d+):(%d+):(%d+)')
  if not year then return '' end
  local function seconds(utc) return os.time(vim.tbl_extend('force', utc, { isdst = false })) end
  local at = { year = year, month = month, day = day, hour = hour, min = min, sec = sec }
  local minutes = math.floor((seconds(os.date('!*t')) - seconds(at)) / 60)
  if minutes < 1 then return ', just now' end
  for _, unit in ipairs({ { 1440, 'day' }, { 60, 'hour' }, { 1, 'minute' } }) do
    local n = math.floor(minutes / unit[1])
    if n > 0 then return (', %d %s%s ago'):format(n, unit[2], n > 1 and 's' or '') end
  end
end

-- Choose one of all chats, the latest first, and open it.
function M.list()
  server.run('stet.chats', nil, function(chats)
    if #chats == 0 then return vim.notify('Stet: no chats yet; ' .. keys.shown('ask') .. ' asks') end
    local function title(chat)
      local turns = ('%d turn%s'):format(chat.turns, chat.turns > 1 and 's' or '')
      return ('%s (%s%s)'):format(chat.title, turns, ago(chat.updated))
    end
    vim.ui.select(chats, { prompt = 'Stet: open a chat', format_item = title }, function(chat)
      if chat then server.run('stet.openChat', { chat = chat.chat }) end
    end)
  end)
end

-- What a turn waits for: choose an answer, or give it in your own words.
local function answer_of(question)
  local function reply(text) server.run('stet.answer', { question = question.id, text = text }) end
  local function in_words() require('stet.ask').read(question.text .. ' ', reply) end
  local choices, own = vim.list_slice(question.choices), 'In your own words'
  if #choices == 0 then return in_words() end
  if question.kind == 'ask' then table.insert(choices, own) end
  vim.ui.select(choices, { prompt = require('stet.messages').with_keys(question.text) }, function(choice)
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

-- A chat is written by Stet, which keeps it: leaving it never asks the user to save, or whether to
-- write over a file that Stet has written since.
function M.save_all()
  for _, buffer in ipairs(vim.tbl_filter(pages.is_chat, vim.api.nvim_list_bufs())) do
    vim.api.nvim_buf_call(buffer, function() vim.cmd('silent! noautocmd update!') end)
  end
end

return M
