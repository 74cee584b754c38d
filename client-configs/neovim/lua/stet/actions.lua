-- What each action does, by the name that keys, `:Stet` and the help share.
-- It gets what was typed behind the command (`text`) and the lines of its range (`lines`).
local ask, chat, review = require('stet.ask'), require('stet.chat'), require('stet.review')
local hunks = require('stet.hunks')
local run = require('stet.server').run

return {
  ask = function(given) ask.ask('agent', given) end,
  rewrite = function(given) ask.ask('rewrite', given) end,
  explain = function(given) ask.ask('ask', given) end,
  comment = function() run('stet.carryOut', { uri = vim.uri_from_bufnr(0), line = vim.fn.line('.') }) end,
  accept = review.accept,
  reject = review.reject,
  accept_all = function() review.file('stet.accept') end,
  reject_all = function() review.file('stet.reject') end,
  resolve = review.resolve,
  undo = review.undo,
  restore = review.restore,
  review = review.review,
  list = function() require('stet.status').list() end,
  chat = function() run('stet.openChat') end,
  new_chat = function() run('stet.newChat') end,
  chats = chat.list,
  send = chat.send,
  agent = function() require('stet.agents').choose() end,
  context = ask.show_context,
  attach = function() ask.attach('add') end,
  detach = function() ask.attach('remove') end,
  send_selection = ask.send_selection,
  search = ask.search,
  answer = chat.answer,
  next = review.next,
  previous = review.previous,
  toggle = hunks.toggle,
  cancel = function() run('stet.cancel') end,
}
