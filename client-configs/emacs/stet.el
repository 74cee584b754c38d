;;; stet.el --- Ask, review and accept with Stet  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT
;; Package-Requires: ((emacs "30.1"))
;; Keywords: tools, convenience

;;; Commentary:

;; Stet is a language server with an agent: you ask, it proposes, you accept hunk by hunk.
;; Eglot runs it for every file, beside the language's own server where `rass' is installed.
;; Put `stet' on the PATH and this folder's files beside your init file, and add these lines to it:
;;
;;   (load (locate-user-emacs-file "stet"))
;;   (stet-mode)
;;   (keymap-global-set "C-c x" 'stet-command-map)
;;
;; Nothing here waits for the server: you can go on working while it answers.

;;; Code:

(when (version< emacs-version "30.1")
  (error "Stet needs Emacs 30.1 or newer; this is Emacs %s" emacs-version))

(require 'cl-lib)
(require 'eglot)
(require 'iso8601)
(require 'xref)

;; The other files are in the same folder, which need not be in `load-path'.
(eval-and-compile
  (let ((load-path (cons (file-name-directory
                          (or load-file-name byte-compile-current-file buffer-file-name))
                         load-path)))
    (dolist (part '(stet-server stet-overlays stet-review stet-hunk stet-chat stet-menu))
      (unless (require part nil t)
        (error "Stet needs %s.el in the folder of stet.el: put it there" part)))))

;;; Commands

(defun stet--ask (prompt mode)
  "Ask PROMPT in MODE, about the region or the text at point."
  (unless (string-blank-p prompt)
    (stet--run "stet.ask"
               (append (list :prompt prompt :mode mode)
                       (and (stet--served-p) (not (stet--page-p buffer-file-name))
                            (list :uri (stet--uri) :range (stet--range)))))
    (deactivate-mark)))

(defun stet-ask (prompt)
  "Ask PROMPT about the region or the text at point; the agent may propose hunks."
  (interactive "sAsk or instruct: ")
  (stet--ask prompt "agent"))

(defun stet-rewrite (prompt)
  "Rewrite the region by PROMPT, in one request.  Good for small models."
  (interactive
   (if (use-region-p) (list (read-string "Rewrite: "))
     (user-error "Select the text to rewrite first")))
  (stet--ask prompt "rewrite"))

(defun stet-accept ()
  "Accept the hunk at point; \\[undo] reverts it.
For a conflict, ask what to do; for a protected file, ask to confirm."
  (interactive)
  (pcase (stet--hunk-at-point)
    ('nil (message "Stet: no pending hunk on this line"))
    (`(,_ ,_ "conflict" ,_) (stet-resolve))
    ((and `(,_ ,_ ,_ ,protected) hunk)
     (cond ((not protected) (stet--decide "stet.accept" hunk))
           ((y-or-n-p "This file is protected.  Accept the hunk? ")
            (stet--decide "stet.accept" hunk :protected t))))))

(defun stet-accept-file ()
  "Accept all hunks of this file as one undo step."
  (interactive)
  (stet--run "stet.accept" (list :uri (stet--uri)) #'stet--decided))

(defun stet-reject (hunk reason)
  "Reject HUNK, by default the one at point, for REASON, which may be empty."
  (interactive
   (let ((hunk (or (stet--hunk-at-point) (user-error "No pending hunk on this line"))))
     (list hunk (read-string "Reason to reject (optional): "))))
  (if (string-blank-p reason)
      (stet--decide "stet.reject" hunk)
    (stet--decide "stet.reject" hunk :reason reason)))

(defun stet-undo ()
  "Undo the accepted hunk on this line, however long ago you accepted it.
If there is none, undo the deletion of a file."
  (interactive)
  (stet--with-hunk '("accepted") #'stet--undo-deletion #'stet--undo-hunk))

(defun stet--undo-hunk (hunk)
  "Undo HUNK, from `stet.proposals'."
  (stet--run "stet.undo" (list :hunk (plist-get hunk :hunk))))

(defun stet--undo-deletion ()
  "Undo the deletion of a file, after asking which."
  (stet--run
   "stet.proposals" nil
   (lambda (hunks)
     (if-let* ((deleted (seq-filter (lambda (hunk)
                                      (and (equal (plist-get hunk :kind) "remove")
                                           (equal (plist-get hunk :state) "accepted")))
                                    hunks)))
         (stet--undo-hunk (stet--choose "Undo" (nreverse deleted)
                                        (lambda (hunk) (plist-get hunk :summary))))
       (message "Stet: no accepted hunk on this line")))))

(defun stet-restore ()
  "Make the rejected, undone or replaced hunk on this line pending again."
  (interactive)
  (stet--with-hunk '("rejected" "undone" "superseded") "nothing to restore on this line"
                   (lambda (hunk) (stet--run "stet.restore" (list :hunk (plist-get hunk :hunk))))))

(defun stet-resolve ()
  "Resolve the conflict on this line."
  (interactive)
  (stet--with-hunk
   '("conflict") "no conflict on this line"
   (lambda (hunk)
     (let ((answer (read-multiple-choice
                    "You edited this text.  Take"
                    '((?m "mine" "Keep your text and drop the proposal.")
                      (?t "theirs" "Take the proposal and drop your text.")
                      (?b "both" "Write both into the text, between conflict markers.")
                      (?r "retry" "Ask for a new proposal for your text.")))))
       (stet--run "stet.resolve"
                  (list :hunk (plist-get hunk :hunk)
                        :how (if (eq (car answer) ?b) "markers" (cadr answer))))))))

(defun stet-next ()
  "Go to the next pending hunk, in this file and then in the others."
  (interactive)
  (stet--go t))

(defun stet-previous ()
  "Go to the previous pending hunk, in this file and then in the others."
  (interactive)
  (stet--go nil))

(defun stet-cycle-style ()
  "Switch between hunks in the text, on one line each, and as signs only."
  (interactive)
  (setq stet-hunk-style (pcase stet-hunk-style ('in-place 'compact) ('compact nil) (_ 'in-place)))
  (dolist (buffer (buffer-list))
    (with-current-buffer buffer (when stet--hunks (stet--draw-soon))))
  (message "Stet: hunks are shown %s" (pcase stet-hunk-style
                                        ('in-place "in the text")
                                        ('compact "on one line each")
                                        (_ "as signs only"))))

(defun stet-review ()
  "Review all pending hunks as one diff.
\\[stet-accept] and \\[stet-reject] decide the hunk at point.  You can also edit the
diff and save it, as with `git add -e': a hunk that you delete is rejected, one
whose `+' lines you edit is accepted as they are now, and the rest is accepted.
If you save it unchanged, you are asked to save it once more."
  (interactive)
  (stet--run "stet.review" '(:acceptOnSave t)))

(defun stet-chat ()
  "Open the chat.  Write your message under the last `## You' heading."
  (interactive)
  (stet--run "stet.openChat" nil))

(defun stet-new-chat ()
  "Start a new chat."
  (interactive)
  (stet--run "stet.newChat" nil))

(defun stet-chats ()
  "Choose a chat by its title, the latest first, and open it."
  (interactive)
  (stet--run
   "stet.chats" nil
   (lambda (chats)
     (if (seq-empty-p chats)
         (message "%s" (substitute-command-keys "Stet: no chats yet; \\[stet-chat] starts one"))
       (let ((chat (stet--choose "Chat" (append chats nil)
                                 (lambda (one) (plist-get one :title)) #'stet--chat-note)))
         (stet--run "stet.openChat" (list :chat (plist-get chat :chat))))))))

(defun stet--chat-note (chat)
  "Return the length of CHAT and when it was last used."
  (let ((turns (plist-get chat :turns)) (updated (plist-get chat :updated)))
    (concat (format "  %d turn%s" turns (if (= turns 1) "" "s"))
            (and updated (format-time-string ", %F %R" (encode-time (iso8601-parse updated)))))))

(defun stet-send ()
  "Send your message in the chat.
While a turn runs, the message steers it or answers its question."
  (interactive)
  (let ((here (stet--page-p buffer-file-name)))
    (stet--run "stet.send" (and here (list :uri (stet--uri))))
    (when here
      (let ((save-silently t)) (save-buffer)))))

(defun stet-choose-agent ()
  "Choose the agent that answers, or its mode, its model or another option."
  (interactive)
  (let ((place (and (stet--page-p buffer-file-name) (list :uri (stet--uri)))))
    (stet--run
     "stet.agents" place
     (lambda (agents)
       (let* ((current (seq-find (lambda (one) (eq (plist-get one :current) t)) agents))
              (things (append agents (plist-get current :options) nil))
              (chosen (stet--choose "Who answers" things #'stet--agent-title #'stet--agent-note)))
         (if (plist-member chosen :values)
             (stet--choose-option place (plist-get current :name) chosen)
           (stet--run "stet.chooseAgent"
                      (append (list :agent (plist-get chosen :name)) place))))))))

(defun stet--agent-title (thing)
  "Return the title of THING: an agent, or an option of one."
  (or (plist-get thing :title) (concat (plist-get thing :name) "…")))

(defun stet--agent-note (thing)
  "Return whether THING, an agent, answers now; or the value of an option."
  (if-let* ((values (plist-get thing :values)))
      (let ((now (seq-find (lambda (one) (equal (plist-get one :value) (plist-get thing :current)))
                           values)))
        (concat "  " (or (plist-get now :name) "?")))
    (if (eq (plist-get thing :current) t) "  answers now" "")))

(defun stet--choose-option (place agent option)
  "Choose a value of OPTION of AGENT in the chat PLACE."
  (let ((value (stet--choose (plist-get option :name) (append (plist-get option :values) nil)
                             (lambda (one) (plist-get one :name)))))
    (stet--run "stet.chooseAgent"
               (append (list :agent agent :option (plist-get option :id)
                             :value (plist-get value :value))
                       place))))

(defun stet-cancel ()
  "Cancel everything that is running."
  (interactive)
  (stet--run "stet.cancel" nil
             (lambda (answer)
               (message "Stet: %s" (if (seq-empty-p (plist-get answer :turns)) "nothing is running"
                                     "cancelled")))))

(defun stet-answer ()
  "Answer the agent's question: choose an answer, or type your own."
  (interactive)
  (stet--run "stet.status" nil
             (lambda (status) (stet--answer-first (append (plist-get status :turns) nil)))))

(defun stet--answer-first (ids)
  "Answer the question of the first turn in IDS that has one."
  (if (null ids) (message "Stet: no question is waiting")
    (stet--run
     "stet.turn" (list :turn (car ids))
     (lambda (turn)
       (if-let* ((question (plist-get turn :question)))
           (let* ((choices (append (plist-get question :choices) nil))
                  (own-words (or (null choices) (equal (plist-get question :kind) "ask")))
                  (text (completing-read
                         (concat (plist-get question :text)
                                 (and choices (format " (%s)" (string-join choices ", "))) " ")
                         choices nil (not own-words))))
             (unless (string-blank-p text)
               (stet--run "stet.answer" (list :question (plist-get question :id) :text text))))
         (stet--answer-first (cdr ids)))))))

(defun stet-show-context ()
  "Show exactly what a question would send to the model; send nothing."
  (interactive)
  (stet--run
   "stet.showContext"
   (append '(:prompt "(your question)")
           (and (stet--served-p) (not (stet--page-p buffer-file-name))
                (list :uri (stet--uri) :range (stet--range))))
   (lambda (context)
     (with-current-buffer (get-buffer-create "*Stet context*")
       (special-mode)
       (let ((inhibit-read-only t))
         (erase-buffer)
         (insert (format "A question here would send about %d tokens:\n"
                         (plist-get context :tokens)))
         (seq-doseq (section (plist-get context :sections))
           (insert (format "\n# %s (%d tokens)\n\n%s\n" (plist-get section :name)
                           (plist-get section :tokens) (plist-get section :text))))
         (goto-char (point-min)))
       (display-buffer (current-buffer))))))

(defun stet-send-selection ()
  "Name the selected lines in the prompt of each Claude Code that is connected."
  (interactive)
  (stet--run "stet.sendSelection" (list :uri (stet--uri) :range (stet--range))))

(defun stet--show-places (places nothing)
  "List PLACES, each (SUMMARY URI RANGE); if there are none, show NOTHING."
  (if (null places) (message "Stet: %s" nothing)
    (let ((found (mapcar (pcase-lambda (`(,summary ,uri ,range))
                           (let ((start (plist-get range :start)))
                             (xref-make summary (xref-make-file-location
                                                 (eglot-uri-to-path uri)
                                                 (1+ (plist-get start :line)) 0))))
                         places))
          ;; A single place is listed too.
          (xref-auto-jump-to-first-xref nil)
          (xref-show-xrefs-function #'xref--show-xref-buffer))
      (xref-show-xrefs (lambda () found) nil))))

(defun stet-list ()
  "List the pending hunks of all files."
  (interactive)
  (stet--run
   "stet.proposals" nil
   (lambda (hunks)
     (stet--show-places
      (cl-loop for hunk being the elements of hunks
               when (member (plist-get hunk :state) '("pending" "conflict"))
               collect (list (format "%s: %s" (plist-get hunk :state) (plist-get hunk :summary))
                             (plist-get hunk :uri) (plist-get hunk :range)))
      "no pending hunks"))))

(defun stet-search (query)
  "Search the project for QUERY, in plain words."
  (interactive "sSearch: ")
  (stet--run
   "stet.search" (list :query query)
   (lambda (found)
     (stet--show-places
      (cl-loop for one being the elements of found
               collect (list (plist-get one :title) (plist-get one :uri) (plist-get one :range)))
      "no results"))))

;;; Keys and the mode

(defvar-keymap stet-command-map
  :doc "Keymap of Stet's commands; bind it to a prefix key."
  :prefix 'stet-command-map
  "?" #'stet-menu
  "a" #'stet-ask
  "r" #'stet-rewrite
  "n" #'stet-next
  "p" #'stet-previous
  "y" #'stet-accept
  "Y" #'stet-accept-file
  "k" #'stet-reject
  "c" #'stet-resolve
  "u" #'stet-undo
  "b" #'stet-restore
  "i" #'stet-cycle-style
  "d" #'stet-review
  "l" #'stet-list
  "t" #'stet-chat
  "T" #'stet-new-chat
  "o" #'stet-chats
  "s" #'stet-send
  "A" #'stet-choose-agent
  "q" #'stet-answer
  "v" #'stet-show-context
  "g" #'stet-send-selection
  "/" #'stet-search
  "x" #'stet-cancel
  "m" #'eglot-code-actions)

(defvar-keymap stet-repeat-map
  :doc "Keymap of the commands that `repeat-mode' repeats."
  :repeat t
  "n" #'stet-next
  "p" #'stet-previous
  "y" #'stet-accept
  "k" #'stet-reject)

(defvar-keymap stet-mode-map
  :doc "Keymap of `stet-mode', for keys of your own; empty by default.")

(defun stet--ensure ()
  "Connect this buffer to Stet if Stet serves its mode."
  (when (and (cl-some (lambda (mode) (derived-mode-p (car mode))) stet--modes)
             (not (stet--page-p buffer-file-name))
             (stet--installed-p))
    (eglot-ensure)))

(defun stet--manage ()
  "Set up or tear down this buffer as Stet serves it or not."
  (if (stet--served-p)
      (let ((server (stet--server)))
        (add-hook 'post-command-hook #'stet--after-command nil t)
        (add-hook 'flymake-diagnostic-functions #'stet--flymake nil t)
        (when flymake-mode (flymake-start))
        (add-function :around (local 'eldoc-documentation-strategy) #'stet--document)
        (when (stet--page-p buffer-file-name)
          (when (derived-mode-p 'diff-mode) (stet-review-mode)))
        (stet--place-hunks (gethash (expand-file-name buffer-file-name)
                                    (stet--published server) []))
        (stet--after-command))
    (remove-hook 'post-command-hook #'stet--after-command t)
    (remove-hook 'flymake-diagnostic-functions #'stet--flymake t)
    (remove-function (local 'eldoc-documentation-strategy) #'stet--document)
    (stet--forget-hunks)))

;;;###autoload
(define-minor-mode stet-mode
  "Use Stet in every file you open."
  :global t
  :group 'stet
  (setq eglot-server-programs (remq stet--entry eglot-server-programs)
        mode-line-misc-info (assq-delete-all 'stet-mode mode-line-misc-info)
        auto-mode-alist (delete (cons stet--markdown 'text-mode)
                                (rassq-delete-all 'stet-chat-mode auto-mode-alist)))
  (remove-hook 'find-file-hook #'stet--ensure)
  (remove-hook 'eglot-managed-mode-hook #'stet--manage)
  (remove-hook 'eglot-connect-hook #'stet--check-connection)
  (remove-hook 'project-find-functions #'stet--page-project)
  (when stet-mode
    (push stet--entry eglot-server-programs)
    (push '(stet-mode (:eval (stet--mode-line))) mode-line-misc-info)
    (push '("[/\\]stet[/\\]chat-[[:xdigit:]]+-[a-zA-Z0-9_-]+\\.md\\'" . stet-chat-mode)
          auto-mode-alist)
    ;; The last entry: another mode for Markdown comes before it.
    (add-to-list 'auto-mode-alist (cons stet--markdown 'text-mode) t)
    (add-hook 'find-file-hook #'stet--ensure)
    (add-hook 'eglot-managed-mode-hook #'stet--manage)
    (add-hook 'eglot-connect-hook #'stet--check-connection)
    (add-hook 'project-find-functions #'stet--page-project)
    (dolist (buffer (buffer-list))
      (with-current-buffer buffer (when buffer-file-name (stet--ensure))))))

(provide 'stet)
;;; stet.el ends here
