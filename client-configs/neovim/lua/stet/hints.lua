-- Which key comes next, for a user who does not know the keys yet.
local keys = require('stet.keys')
local M = {}

local asked = {} -- by client: whether it was asked for its chats

-- Name the key that asks, once for a project without chats.
function M.name_ask_key(stet)
  if asked[stet.id] then return end
  asked[stet.id] = true
  stet:request('workspace/executeCommand', { command = 'stet.chats', arguments = {} }, function(_, chats)
    if type(chats) ~= 'table' or #chats > 0 then return end
    local hint = ('Stet: %s asks, %s goes to the next hunk, :help stet'):format(keys.shown('ask'), keys.shown('next'))
    require('stet.messages').show(hint)
  end)
end

-- Show a message; where a turn has left hunks to review and there is room, with their keys instead of its usage.
function M.show_message(err, message, ...)
  local messages = require('stet.messages')
  messages.show_message(err, message, ...)
  local text = message.message:match('^.-%d+ hunks? to review%.')
  if not text then return end
  local next, accept, reject = keys.shown('next'), keys.shown('accept'), keys.shown('reject')
  local line = ('%s %s next, %s accept, %s reject'):format(text, next, accept, reject)
  if vim.fn.strdisplaywidth(line) <= vim.v.echospace then messages.show(line) end
end

return M
