;;; stet-menu.el --- A menu of Stet's commands  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; A part of `stet', which loads it from its own folder: the menu, with the keys of the command map.

;;; Code:

(require 'transient)

(transient-define-prefix stet-menu ()
  "Choose one of Stet's commands."
  [["Ask and search"
    ("a" "Ask or instruct" stet-ask)
    ("r" "Rewrite the region" stet-rewrite)
    ("q" "Answer the agent's question" stet-answer)
    ("x" "Cancel" stet-cancel)
    ("v" "Show what would be sent" stet-show-context)
    ("g" "Send the selection to Claude" stet-send-selection)
    ("/" "Search" stet-search)]
   ["Chat"
    ("t" "Open the chat" stet-chat)
    ("T" "New chat" stet-new-chat)
    ("o" "Open another chat" stet-chats)
    ("s" "Send the message" stet-send)
    ("A" "Choose who answers" stet-choose-agent)]]
  [["Hunk at point"
    ("y" "Accept" stet-accept)
    ("k" "Reject" stet-reject)
    ("c" "Resolve the conflict" stet-resolve)
    ("u" "Undo an accepted hunk" stet-undo)
    ("b" "Restore a hunk" stet-restore)
    ("m" "More actions" eglot-code-actions)]
   ["Review"
    ("n" "Next hunk" stet-next :transient t)
    ("p" "Previous hunk" stet-previous :transient t)
    ("Y" "Accept all in this file" stet-accept-file)
    ("d" "Review all as one diff" stet-review)
    ("l" "List hunks" stet-list)
    ("i" "Change how hunks are shown" stet-cycle-style)]])

(provide 'stet-menu)
;;; stet-menu.el ends here
