;;; stet-chat.el --- The chat with Stet, and what it shows  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; A part of `stet', which loads it from its own folder: the chats, which follow an
;; answer while it is written and fold tool calls, and the files that Stet shows.

;;; Code:

(require 'cl-lib)
(require 'eglot)
(require 'outline)
(require 'stet-server)
(require 'stet-hunk)

;;; Documents that Stet shows

(defun stet--at-end (window)
  "Move point in WINDOW to the end of its buffer, and scroll there."
  (with-selected-window window
    (goto-char (point-max))
    (recenter -2)))

(defun stet--show-page (buffer focus)
  "Show BUFFER, a chat or review page, in another window; select it if FOCUS.
Scroll a chat that was not visible to its end."
  (let* ((shown (get-buffer-window buffer))
         (window (or shown (display-buffer buffer '(nil (inhibit-same-window . t))))))
    (when (windowp window)
      (when (and (not shown) (with-current-buffer buffer (derived-mode-p 'stet-chat-mode)))
        (stet--at-end window))
      (when focus (select-window window)))))

(defun stet--show-file (file focus selection)
  "Show FILE at SELECTION, a range or nil; select its window if FOCUS."
  (let ((buffer (find-file-noselect file)))
    (cond ((stet--page-p file) (stet--show-page buffer focus))
          (focus (xref-push-marker-stack)
                 (pop-to-buffer-same-window buffer))
          (t (display-buffer buffer)))
    (when-let* ((selection)
                (window (get-buffer-window buffer)))
      (with-selected-window window
        (goto-char (car (eglot-range-region selection)))
        (setq stet--reveal t)
        (stet--draw-soon)))))

(cl-defmethod eglot-handle-request
  ((_server stet-server) (_method (eql window/showDocument))
   &key uri external takeFocus selection)
  "Show URI at SELECTION.  Go back with \\[xref-go-back].
Without TAKEFOCUS, use another window.  Leave what is EXTERNAL to Eglot."
  (let ((file (eglot-uri-to-path uri)))
    (if (or (eq external t) (not (file-readable-p file)))
        (cl-call-next-method)
      ;; After the answer: opening a file may send requests.
      (run-at-time 0 nil #'stet--show-file file
                   (and (eq takeFocus t) (not (active-minibuffer-window))) selection)
      '(:success t))))

;;; The chat

(defun stet--chat-shown-p ()
  "Return whether a chat is visible on this frame."
  (cl-some (lambda (window)
             (with-current-buffer (window-buffer window) (derived-mode-p 'stet-chat-mode)))
           (window-list)))

(defun stet--tails (files)
  "Return the windows that show the end of a chat in FILES."
  (cl-loop for file in files
           for buffer = (and (stet--page-p file) (find-buffer-visiting file))
           when (and buffer (with-current-buffer buffer (derived-mode-p 'stet-chat-mode)))
           append (cl-loop for window in (get-buffer-window-list buffer nil t)
                           when (with-current-buffer buffer
                                  (save-excursion
                                    (goto-char (window-point window))
                                    (looking-at-p "[ \t\n]*\\'")))
                           collect window)))

(defun stet--follow (windows)
  "Scroll WINDOWS, which showed the end of a chat before it grew, to its end."
  (dolist (window windows)
    (with-current-buffer (window-buffer window) (stet--fold-tools)))
  (mapc #'stet--at-end windows))

;;; Tool calls

(defconst stet--tools
  (let ((call "- [a-z]+\\(?:_[a-z]+\\)+\\(?:[ :].*\\)?"))
    (format "^%s\\(?:\n%s\\)*$" call call))
  "Regexp for consecutive tool calls in a chat.")

(defvar-local stet--tools-shown nil
  "Non-nil if the tool calls of this chat are unfolded.")

(defun stet--fold-tools ()
  "Fold each list of tools in this chat to one line, or unfold it."
  (remove-overlays nil nil 'stet-tools t)
  (unless stet--tools-shown
    (save-excursion
      (goto-char (point-min))
      (let (case-fold-search)
        (while (re-search-forward stet--tools nil t)
          (let* ((start (match-beginning 0)) (end (match-end 0))
                 (first (save-excursion (goto-char start) (pos-eol))))
            (when (> end first)
              ;; Recentering is wrong where one string replaces several lines.
              (stet--overlay start first 'stet-tools t 'evaporate t
                             'display (stet--tools-label (count-lines start end)))
              (stet--overlay first end 'stet-tools t 'evaporate t 'invisible t))))))))

(defun stet--tools-label (n)
  "Return the label of N folded tools."
  (propertize (substitute-command-keys
               (format "▸ %d tool calls (\\[stet-toggle-tools] shows them)" n))
              'face 'stet-note))

(defun stet-toggle-tools ()
  "Unfold this chat's list of tools, or fold it."
  (interactive nil stet-chat-mode)
  (setq stet--tools-shown (not stet--tools-shown))
  (stet--fold-tools)
  (when (looking-at-p "[ \t\n]*\\'")
    (stet--at-end (selected-window))))

(defvar stet-chat-font-lock
  '(("^#\\{1,6\\} .*" . 'bold)
    ("^\\*.*\\*$" . 'shadow)
    ("^```.*\n\\(?:.*\n\\)*?```$" . 'fixed-pitch)
    ("^- [a-z]+\\(?:_[a-z]+\\)+\\(?:[ :].*\\)?$" . 'stet-note)
    ("`[^`\n]+`" . 'font-lock-constant-face)
    ("\\*\\*[^*\n]+\\*\\*" . 'bold))
  "Font-lock keywords of chats.")

(defvar-keymap stet-chat-mode-map
  :doc "Keymap of chats."
  "C-c C-c" 'stet-send
  "C-c C-t" 'stet-toggle-tools)

(define-derived-mode stet-chat-mode text-mode "Stet Chat"
  "A chat with Stet: write under the last `## You' and send it with \\[stet-send]."
  (visual-line-mode)
  ;; A chat has no diagnostics, and needs no margin for them.
  (setq-local eglot-stay-out-of (cons 'flymake eglot-stay-out-of))
  (setq-local scroll-conservatively 101)
  ;; A newline added on save would be an empty line above your next message.
  (setq-local require-final-newline nil)
  (setq header-line-format
        (substitute-command-keys "Write below the last heading; \\[stet-send] sends it"))
  (when buffer-file-name
    (rename-buffer (concat "Stet chat: " (replace-regexp-in-string
                                          "\\`chat-[[:xdigit:]]+-" "" (file-name-base buffer-file-name)))
                   t))
  (stet--fold-tools)
  (setq font-lock-defaults '(stet-chat-font-lock t))
  (setq-local outline-regexp "##? "))

(provide 'stet-chat)
;;; stet-chat.el ends here
