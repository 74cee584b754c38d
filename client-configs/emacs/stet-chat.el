;;; stet-chat.el --- The chat with Stet, and its other pages  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; A part of `stet', which loads it from its own folder: shows the chats and the reviews that Stet
;; writes beside your files, follows an answer while it is written, and folds tool calls.

;;; Code:

(require 'cl-lib)
(require 'eglot)
(require 'outline)
(require 'stet-server)
(require 'stet-hunk)

;;; Documents that Stet shows

(defun stet--at-end (window)
  "Show the end of the buffer in WINDOW, with point there."
  (with-selected-window window
    (goto-char (point-max))
    (recenter -2)))

(defun stet--show-page (buffer focus)
  "Show BUFFER, a page of Stet, in another window; select it if FOCUS.
A chat that was not shown is shown at its end."
  (let* ((shown (get-buffer-window buffer))
         (window (or shown (display-buffer buffer '(nil (inhibit-same-window . t))))))
    (when (windowp window)
      (when (and (not shown) (with-current-buffer buffer (derived-mode-p 'stet-chat-mode)))
        (stet--at-end window))
      (when focus (select-window window)))))

(defun stet--show-file (file focus selection)
  "Show SELECTION, a range or nil, in FILE; select its window if FOCUS."
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
  "Show SELECTION in URI; \\[xref-go-back] leads back.
Without TAKEFOCUS it is shown in another window.  Eglot shows what is EXTERNAL."
  (let ((file (eglot-uri-to-path uri)))
    (if (or (eq external t) (not (file-readable-p file)))
        (cl-call-next-method)
      ;; Behind the answer: what is opened may have requests of its own.
      (run-at-time 0 nil #'stet--show-file file
                   (and (eq takeFocus t) (not (active-minibuffer-window))) selection)
      '(:success t))))

;;; The chat

(defun stet--chat-shown-p ()
  "Return whether a window of this frame has a chat."
  (cl-some (lambda (window)
             (with-current-buffer (window-buffer window) (derived-mode-p 'stet-chat-mode)))
           (window-list)))

(defun stet--tails (files)
  "Return the windows that show the end of a chat of FILES: (WINDOW . BUFFER)."
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
  "Show the end of the chat in WINDOWS, which showed it before it grew."
  (dolist (window windows)
    (with-current-buffer (window-buffer window) (stet--fold-tools)))
  (mapc #'stet--at-end windows))

;;; Tool calls

(defconst stet--tools
  (let ((call "- [a-z]+\\(?:_[a-z]+\\)+\\(?:[ :].*\\)?"))
    (format "^%s\\(?:\n%s\\)*$" call call))
  "A list of tool calls in a chat.")

(defvar-local stet--tools-shown nil
  "Whether the tool calls of this chat are shown one by one.")

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
  "Return the text shown in place of N folded tools."
  (propertize (substitute-command-keys
               (format "▸ %d tool calls (\\[stet-toggle-tools] shows them)" n))
              'face 'stet-note))

(defun stet-toggle-tools ()
  "Show the tools that the agent used in this chat, or fold them."
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
  "The colours of a chat, for `font-lock-defaults'.")

(defvar-keymap stet-chat-mode-map
  :doc "Keys of a chat."
  "C-c C-c" 'stet-send
  "C-c C-t" 'stet-toggle-tools)

(define-derived-mode stet-chat-mode text-mode "Stet Chat"
  "A chat with Stet: write under the last `## You' and send it with \\[stet-send]."
  (visual-line-mode)
  ;; A chat has no diagnostics, and needs no margin for them.
  (setq-local eglot-stay-out-of (cons 'flymake eglot-stay-out-of))
  (setq-local scroll-conservatively 101)
  ;; Stet writes the line ends; another one would be an empty line above your next message.
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

;;; The review page

(defvar-keymap stet-review-mode-map
  :doc "Keys of a review page, in place of those that would change the file."
  "C-c C-a" 'stet-accept
  "C-c C-k" 'stet-reject
  "<remap> <save-buffer>" 'stet-save-review)

(defun stet-save-review ()
  "Save this review page, so that Stet accepts what stays in it.
A page that you have not changed is saved too."
  (interactive nil stet-review-mode)
  (set-buffer-modified-p t)
  (let ((save-silently t)) (save-buffer)))

(define-minor-mode stet-review-mode
  "Decide the hunks of a review page: \\[stet-accept] accepts, \\[stet-reject] rejects."
  :lighter nil
  (setq header-line-format
        '((:eval (stet--review-header)))))

(defun stet--review-header ()
  "Return how many hunks are left, and the keys that decide them."
  (let* ((status (stet--status (stet--server)))
         (left (+ (or (plist-get status :pending) 0) (or (plist-get status :conflicts) 0))))
    (substitute-command-keys
     (format "%d left   \\[stet-accept] accept  \\[stet-reject] reject  \\[stet-next] next  \
\\[stet-save-review] accept what stays" left))))

(provide 'stet-chat)
;;; stet-chat.el ends here
