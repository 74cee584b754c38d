;;; stet.el --- Ask, review and accept with Stet  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT
;; Package-Requires: ((emacs "30.1"))
;; Keywords: tools, convenience

;;; Commentary:

;; Stet is a language server that is an agent: you ask, it proposes, you accept hunk by hunk.
;; This runs it through Eglot, for every file, beside a language's own server where there is `rass'.
;; Put `stet' on the PATH, this file and those of its folder beside your init file, and into that:
;;
;;   (load (locate-user-emacs-file "stet"))
;;   (stet-mode)
;;   (keymap-global-set "C-c s" 'stet-command-map)
;;
;; Nothing here waits for the server: Emacs goes on while it works.

;;; Code:

(when (version< emacs-version "30.1")
  (error "Stet needs Emacs 30.1 or newer, and this is %s" emacs-version))

(require 'cl-lib)
(require 'eglot)
(require 'xref)

;; Its parts lie beside it, in a folder that need not be in `load-path'.
(eval-and-compile
  (let ((load-path (cons (file-name-directory
                          (or load-file-name byte-compile-current-file buffer-file-name))
                         load-path)))
    (dolist (part '(stet-server stet-hunk))
      (unless (require part nil t)
        (error "Stet needs %s.el in the folder of stet.el: put it there" part)))))

;;; Commands

(defun stet--ask (prompt mode)
  "Ask PROMPT in MODE, about the region or point."
  (unless (string-blank-p prompt)
    (stet--run "stet.ask"
               (append (list :prompt prompt :mode mode)
                       (and (stet--served-p) (not (stet--page-p buffer-file-name))
                            (list :uri (stet--uri) :range (stet--range)))))
    (deactivate-mark)))

(defun stet-ask (prompt)
  "Ask PROMPT about the region, or at point; the agent may propose hunks."
  (interactive "sStet: ")
  (stet--ask prompt "agent"))

(defun stet-rewrite (prompt)
  "Have the region rewritten in one shot by PROMPT.  Right for small models."
  (interactive "sStet, rewrite: ")
  (unless (use-region-p) (user-error "Select what is to be rewritten"))
  (stet--ask prompt "rewrite"))

(defun stet-accept ()
  "Accept the hunk on this line; your own undo takes it back."
  (interactive)
  (stet--decide "stet.accept"))

(defun stet-accept-file ()
  "Accept all hunks of this file, in one step of undo."
  (interactive)
  (stet--run "stet.accept" (list :uri (stet--uri)) #'stet--tell-refused))

(defun stet-reject (reason)
  "Reject the hunk on this line, for a REASON, which may be empty."
  (interactive "sReject, because (may be empty): ")
  (if (string-blank-p reason)
      (stet--decide "stet.reject")
    (stet--decide "stet.reject" :reason reason)))

(defun stet-undo ()
  "Take back the accepted hunk on this line, also long after."
  (interactive)
  (stet--with-hunk '("accepted") "no accepted hunk on this line"
                   (lambda (hunk) (stet--run "stet.undo" (list :hunk (plist-get hunk :hunk))))))

(defun stet-restore ()
  "Bring back the rejected hunk on this line, or one that was taken back."
  (interactive)
  (stet--with-hunk '("rejected" "undone") "no rejected hunk on this line"
                   (lambda (hunk) (stet--run "stet.restore" (list :hunk (plist-get hunk :hunk))))))

(defun stet-resolve ()
  "Choose a way out of the conflict on this line."
  (interactive)
  (stet--with-hunk
   '("conflict") "no conflict on this line"
   (lambda (hunk)
     (let ((way (stet--choose "You changed these lines, too: "
                              '(("keep my text, drop the proposal" . "mine")
                                ("take the proposal, drop my text" . "theirs")
                                ("put both in, between markers" . "markers")
                                ("have it done again for my text" . "retry"))
                              #'car)))
       (stet--run "stet.resolve" (list :hunk (plist-get hunk :hunk) :how (cdr way)))))))

(defun stet--go (command)
  "Go to the hunk that COMMAND leads to, in any file."
  (stet--run
   command
   (and (stet--served-p) (not (stet--page-p buffer-file-name))
        (list :uri (stet--uri) :line (line-number-at-pos nil t)))
   (lambda (found)
     (if (null found) (message "Stet: nothing to review")
       (let ((file (eglot-uri-to-path (plist-get found :uri))))
         ;; Eglot shows no file that is still to be made, and Flymake nothing in an empty buffer.
         (unless (file-exists-p file)
           (find-file file)
           (message "%s" (substitute-command-keys
                          "Stet: a new file, still to be made; \\[stet-accept] fills it"))))))))

(defun stet-next ()
  "Go to the next hunk, in this file and then in the others."
  (interactive)
  (stet--go "stet.next"))

(defun stet-previous ()
  "Go to the hunk before point, in this file and then in the others."
  (interactive)
  (stet--go "stet.previous"))

(defun stet-review ()
  "Open all that waits as one diff.
Delete a hunk in it to reject it, edit its `+' lines to change it, then save."
  (interactive)
  (stet--run "stet.review" nil))

(defun stet-chat ()
  "Open the chat; write under its last `## You'."
  (interactive)
  (stet--run "stet.openChat" nil))

(defun stet-new-chat ()
  "Begin a new chat."
  (interactive)
  (stet--run "stet.newChat" nil))

(defun stet-send ()
  "Send what you wrote in the chat; it steers or answers a turn at work."
  (interactive)
  (let ((here (stet--page-p buffer-file-name)))
    (stet--run "stet.send" (and here (list :uri (stet--uri))))
    (when here (save-buffer))))

(defun stet-cancel ()
  "Cancel all that is at work."
  (interactive)
  (stet--run "stet.cancel" nil
             (lambda (answer)
               (message "Stet: %s" (if (seq-empty-p (plist-get answer :turns)) "nothing runs"
                                     "cancelled")))))

(defun stet-answer ()
  "Answer what a turn waits for: choose, or say it in your own words."
  (interactive)
  (stet--run "stet.status" nil
             (lambda (status) (stet--answer-first (append (plist-get status :turns) nil)))))

(defun stet--answer-first (ids)
  "Answer what the first of IDS waits for, which is a list."
  (if (null ids) (message "Stet: nothing waits for your answer")
    (stet--run
     "stet.turn" (list :turn (car ids))
     (lambda (turn)
       (if-let* ((question (plist-get turn :question)))
           (let* ((choices (append (plist-get question :choices) nil))
                  (own-words (or (null choices) (equal (plist-get question :kind) "ask")))
                  (text (completing-read (concat (plist-get question :text) " ")
                                         choices nil (not own-words))))
             (unless (string-blank-p text)
               (stet--run "stet.answer" (list :question (plist-get question :id) :text text))))
         (stet--answer-first (cdr ids)))))))

(defun stet-show-context ()
  "Show exactly what a question would send; nothing is sent."
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
         (insert (format "About %d tokens would be sent, with your question:\n"
                         (plist-get context :tokens)))
         (seq-doseq (section (plist-get context :sections))
           (insert (format "\n# %s (%d tokens)\n\n%s\n" (plist-get section :name)
                           (plist-get section :tokens) (plist-get section :text))))
         (goto-char (point-min)))
       (display-buffer (current-buffer))))))

(defun stet--show-places (places nothing)
  "List PLACES, each (SUMMARY URI RANGE); say NOTHING if there are none."
  (if (null places) (message "Stet: %s" nothing)
    (let ((found (mapcar (pcase-lambda (`(,summary ,uri ,range))
                           (let ((start (plist-get range :start)))
                             (xref-make summary (xref-make-file-location
                                                 (eglot-uri-to-path uri)
                                                 (1+ (plist-get start :line)) 0))))
                         places))
          ;; Also of one you first see what it is.
          (xref-auto-jump-to-first-xref nil)
          (xref-show-xrefs-function #'xref--show-xref-buffer))
      (xref-show-xrefs (lambda () found) nil))))

(defun stet-list ()
  "List all hunks that wait, in all files."
  (interactive)
  (stet--run
   "stet.proposals" nil
   (lambda (hunks)
     (stet--show-places
      (cl-loop for hunk being the elements of hunks
               when (member (plist-get hunk :state) '("pending" "conflict"))
               collect (list (format "%s: %s" (plist-get hunk :state) (plist-get hunk :summary))
                             (plist-get hunk :uri) (plist-get hunk :range)))
      "nothing waits"))))

(defun stet-search (query)
  "Search the project in your own words, QUERY."
  (interactive "sSearch for: ")
  (stet--run
   "stet.search" (list :query query)
   (lambda (found)
     (stet--show-places
      (cl-loop for one being the elements of found
               collect (list (plist-get one :title) (plist-get one :uri) (plist-get one :range)))
      "nothing found"))))

;;; Keys and the mode

(defvar-keymap stet-command-map
  :doc "Stet's commands, for a prefix of yours."
  :prefix 'stet-command-map
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
  "d" #'stet-review
  "l" #'stet-list
  "t" #'stet-chat
  "T" #'stet-new-chat
  "s" #'stet-send
  "q" #'stet-answer
  "v" #'stet-show-context
  "/" #'stet-search
  "x" #'stet-cancel
  "m" #'eglot-code-actions)

(defvar-keymap stet-repeat-map
  :doc "Behind one of these its key alone is enough, with `repeat-mode'."
  :repeat t
  "n" #'stet-next
  "p" #'stet-previous
  "y" #'stet-accept
  "k" #'stet-reject)

(define-derived-mode stet-chat-mode text-mode "Stet Chat"
  "A chat with Stet: write under the last `## You' and send it with \\[stet-send]."
  (visual-line-mode)
  (setq font-lock-defaults '((("^## .*" . 'bold) ("^\\*.*\\*$" . 'shadow)) t)))

(defvar-keymap stet-mode-map
  :doc "In all buffers while `stet-mode' is on; the prefix is yours to choose.")

(keymap-set stet-chat-mode-map "C-c C-c" #'stet-send)

(defun stet--ensure ()
  "Have this file served."
  (when (and (cl-some (lambda (mode) (derived-mode-p (car mode))) stet--modes)
             (not (stet--page-p buffer-file-name))
             (stet--installed-p))
    (eglot-ensure)))

(defun stet--manage ()
  "Follow you in this buffer while Stet serves it."
  (if (stet--served-p)
      (progn (stet--server)
             (add-hook 'post-command-hook #'stet--after-command nil t)
             (stet--after-command))
    (remove-hook 'post-command-hook #'stet--after-command t)
    (when (overlayp stet--overlay) (delete-overlay stet--overlay))))

;;;###autoload
(define-minor-mode stet-mode
  "Have Stet serve the files you open."
  :global t
  :group 'stet
  (setq eglot-server-programs (remq stet--entry eglot-server-programs)
        mode-line-misc-info (assq-delete-all 'stet-mode mode-line-misc-info)
        auto-mode-alist (rassq-delete-all 'stet-chat-mode auto-mode-alist))
  (remove-hook 'find-file-hook #'stet--ensure)
  (remove-hook 'eglot-managed-mode-hook #'stet--manage)
  (remove-hook 'project-find-functions #'stet--page-project)
  (when stet-mode
    (push stet--entry eglot-server-programs)
    (push '(stet-mode (:eval (stet--mode-line))) mode-line-misc-info)
    (push '("[/\\]stet[/\\]chat-[[:xdigit:]]+-[a-zA-Z0-9_-]+\\.md\\'" . stet-chat-mode)
          auto-mode-alist)
    (add-hook 'find-file-hook #'stet--ensure)
    (add-hook 'eglot-managed-mode-hook #'stet--manage)
    (add-hook 'project-find-functions #'stet--page-project)
    (dolist (buffer (buffer-list))
      (with-current-buffer buffer (when buffer-file-name (stet--ensure))))))

(provide 'stet)
;;; stet.el ends here
