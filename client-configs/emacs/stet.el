;;; stet.el --- Ask, review and accept with Stet  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT
;; Package-Requires: ((emacs "30.1"))
;; Keywords: tools, convenience

;;; Commentary:

;; Stet is a language server that is an agent: you ask, it proposes, you accept hunk by hunk.
;; This runs it through Eglot, for every file, beside a language's own server where there is `rass'.
;; Put `stet' on the PATH, this file beside your init file, and into that:
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
(require 'diff-mode)
(require 'eglot)
(require 'flymake)
(require 'xref)

(defgroup stet nil
  "A language server that is a coding and writing agent."
  :group 'eglot)

(defcustom stet-beside 'guess
  "The language servers beside Stet, which takes the program `rass'.
Either `guess': the one that Eglot knows for the first file opened of a project;
or a list of command lines, each a list of strings; nil is Stet alone.
All are told of all files of the project, as a buffer has one connection."
  :type '(choice (const guess) (repeat (repeat string))))

(defface stet-added '((t :inherit diff-added))
  "Lines that a hunk would write, below those they would replace.")

(defface stet-removed '((t :inherit diff-removed))
  "Lines that a hunk would take away.")

;;; The connection

(defclass stet-server (eglot-lsp-server)
  ((doing :initform nil :accessor stet--doing
          :documentation "Progress at work: (TOKEN TITLE . MESSAGE).")
   (status :initform nil :accessor stet--status
           :documentation "What `stet.status' last answered.")
   (timer :initform nil :accessor stet--status-timer
          :documentation "Until it is asked again."))
  :documentation "A connection to Stet, perhaps with other servers beside it.")

(defvar stet--modes
  '((prog-mode :language-id "") (text-mode :language-id "") (conf-mode :language-id "")
    (diff-mode :language-id ""))
  "What Stet serves: all files, so that one server knows a whole project.")

(defvar stet--entry (cons stet--modes #'stet--contact)
  "Our entry in `eglot-server-programs'.")

(defvar stet--last nil
  "The connection that was last used; pages and chats belong to it.")

(defvar stet--told nil
  "What has been said once, and is not said again.")

(defun stet--tell-once (format-string &rest arguments)
  "Warn, by FORMAT-STRING with ARGUMENTS, unless that was said before."
  (let ((text (apply #'format-message format-string arguments)))
    (unless (member text stet--told)
      (push text stet--told)
      (display-warning 'stet text))))

(defun stet--installed-p ()
  "Whether `stet' can be started; if not, tell once what to do."
  (or (executable-find "stet")
      (ignore
       (stet--tell-once "`stet' is not in a folder of `exec-path', so nothing is started.  \
Install it, or add its folder to the PATH that Emacs is started with, then open the file again"))))

(defun stet--own-entry ()
  "What Eglot knows for this buffer without us, as its (LANGUAGES . CONTACT)."
  (let ((eglot-server-programs (remq stet--entry eglot-server-programs)))
    (eglot--lookup-mode major-mode)))

(defun stet--own-server ()
  "The command line of the language's own server, if it is installed."
  (let* ((contact (cdr (stet--own-entry)))
         ;; Eglot's own guess is an error where none is installed.
         (command (if (functionp contact)
                      (ignore-errors (funcall contact nil (eglot--current-project)))
                    contact)))
    (and command (proper-list-p command) (cl-every #'stringp command)
         (executable-find (car command))
         command)))

(defun stet--contact (&rest _)
  "How Stet is started, in the form of `eglot-server-programs'."
  (let ((beside (if (eq stet-beside 'guess)
                    (ensure-list (and-let* ((own (stet--own-server))) (list own)))
                  stet-beside))
        (stet '("stet" "serve")))
    (cond ((null beside))
          ((not (executable-find "rass"))
           (stet--tell-once "Only Stet serves the files here: `rass' is not on the PATH.  \
`pip install rassumfrassum' to have `%s' beside it, or set `stet-beside' to nil" (caar beside)))
          ;; Eglot may know `rass' itself, with what it is to run.
          ((equal (caar beside) "rass") (setq stet `(,@(car beside) "--" ,@stet)))
          (t (setq stet `("rass" ,@(mapcan (lambda (one) (cons "--" (copy-sequence one)))
                                           (append beside (list stet)))))))
    (cons 'stet-server stet)))

(defun stet--language-id ()
  "The protocol's name for the language of this buffer."
  (or (and-let* ((name (cdaar (stet--own-entry)))) (unless (derived-mode-p 'text-mode) name))
      (if (derived-mode-p 'text-mode) "plaintext"
        (string-remove-suffix "-mode" (string-remove-suffix "-ts-mode" (symbol-name major-mode))))))

(cl-defmethod jsonrpc-connection-send :before
  ((_server stet-server) &key method params &allow-other-keys)
  "Name a document's language by its mode, as our entry knows none."
  (when (eq method :textDocument/didOpen)
    (plist-put (plist-get params :textDocument) :languageId (stet--language-id))))

(defun stet--server ()
  "The connection for this buffer, else the last one."
  (let ((here (eglot-current-server)))
    (cond ((cl-typep here 'stet-server) (setq stet--last here))
          ((and stet--last (jsonrpc-running-p stet--last)) stet--last)
          ((not (executable-find "stet"))
           (user-error "`stet' is not in a folder of `exec-path'; install it, or mend the PATH"))
          (t (user-error "Stet does not serve this buffer; start it with %s"
                         (substitute-command-keys "\\[eglot]"))))))

(defun stet--served-p ()
  "Whether Stet serves this buffer."
  (and (eglot-managed-p) (cl-typep (eglot-current-server) 'stet-server)))

(defun stet--flush (server)
  "Tell SERVER what was typed; Eglot would half a second later."
  (dolist (buffer (eglot--managed-buffers server))
    (when (buffer-live-p buffer)
      (with-current-buffer buffer
        (when (eglot-managed-p) (eglot--signal-textDocument/didChange))))))

(defun stet--run (command arguments &optional on-answer)
  "Have Stet carry out COMMAND with ARGUMENTS, a plist; Emacs is free meanwhile.
ON-ANSWER gets what it answers.  A refusal is shown."
  (let ((server (stet--server)))
    (stet--flush server)
    (jsonrpc-async-request
     server :workspace/executeCommand
     (list :command command :arguments (if arguments (vector arguments) []))
     :timeout nil
     ;; Behind the message that brings it, as it may read from the minibuffer.
     :success-fn (lambda (answer) (when on-answer (run-at-time 0 nil on-answer answer)))
     :error-fn (lambda (problem) (message "Stet: %s" (plist-get problem :message))))))

;;; What the server says

(defun stet--page-p (file)
  "Whether FILE is a page that Stet has written: a review or a chat."
  (and file (string-match-p
             "[/\\]stet[/\\]\\(review-[[:xdigit:]-]+\\.diff\\|chat-[[:xdigit:]]+-[a-zA-Z0-9_-]+\\.md\\)\\'"
             file)))

(defun stet--page-project (_folder)
  "The project of the server that has written the page in this buffer."
  (and eglot-lsp-context stet--last (stet--page-p buffer-file-name)
       (eglot--project stet--last)))

(defun stet--edited-files (edit)
  "The files that EDIT, a WorkspaceEdit, is for."
  (mapcar (lambda (change) (eglot-uri-to-path (plist-get (plist-get change :textDocument) :uri)))
          (plist-get edit :documentChanges)))

(defun stet--saved-page (file)
  "Whether FILE is a page that is shown and has nothing of yours unsaved."
  (and-let* (((stet--page-p file))
             (buffer (find-buffer-visiting file)))
    (not (buffer-modified-p buffer))))

(cl-defmethod eglot-handle-request
  ((server stet-server) (_method (eql workspace/applyEdit)) &key label edit &allow-other-keys)
  "Apply EDIT, of that LABEL, to the text as it is now; tell SERVER at once."
  (let* ((files (stet--edited-files edit))
         (ours (or (string-prefix-p "Stet: " (or label "")) (cl-every #'stet--page-p files)))
         ;; You have said yes already; and to Eglot's question every answer counts as a yes.
         (eglot-confirm-server-edits (unless ours eglot-confirm-server-edits)))
    (stet--flush server)
    ;; A new file that you look at is yours to save; for want of its folder Emacs would ask you.
    (when ours
      (dolist (file files) (make-directory (file-name-directory file) t)))
    (dolist (buffer (delq nil (mapcar #'find-buffer-visiting files)))
      (with-current-buffer buffer (undo-boundary)))
    (let ((saved (seq-filter #'stet--saved-page files)))
      (prog1 (let ((inhibit-message ours)) (cl-call-next-method))
        ;; What Stet writes into its pages, it also keeps: you are not asked to save it.
        (dolist (file saved)
          (with-current-buffer (find-buffer-visiting file) (set-buffer-modified-p nil)))
        (stet--flush server)))))

(cl-defmethod eglot-handle-notification
  ((_server stet-server) (_method (eql window/showMessage)) &key message &allow-other-keys)
  "Show MESSAGE as it is; a long one in a window of its own."
  (if (not (string-prefix-p "Stet: " message))
      (cl-call-next-method)
    (let ((answer (substitute-command-keys "(answer: \\<stet-mode-map>\\[stet-answer])")))
      (setq message (replace-regexp-in-string "\nAnswer \\(?:with\\|by\\) [^\0]*\\'"
                                              (concat "\n" answer) message t t)))
    (display-message-or-buffer (string-trim-right message) "*Stet says*")))

(cl-defmethod eglot-handle-notification :after
  ((server stet-server) (_method (eql $/progress)) &key token value &allow-other-keys)
  "Keep what SERVER does, for the mode line."
  (let ((title (or (plist-get value :title) (car (alist-get token (stet--doing server) nil nil #'equal)))))
    (setf (alist-get token (stet--doing server) nil t #'equal)
          (and title (string-prefix-p "Stet: " title)
               (not (equal (plist-get value :kind) "end"))
               (cons title (plist-get value :message)))))
  (stet--look server))

(cl-defmethod eglot-handle-notification :after
  ((server stet-server) (_method (eql textDocument/publishDiagnostics)) &key &allow-other-keys)
  "Count what waits at SERVER, and show the hunk at point if it is new."
  (with-current-buffer (window-buffer) (stet--show-hunk))
  (stet--look server))

(cl-defmethod eglot-handle-request
  ((_server stet-server) (_method (eql window/showDocument))
   &key uri external takeFocus selection &allow-other-keys)
  "Go to SELECTION in URI, in this window; \\[xref-go-back] leads back.
What is EXTERNAL, or comes without TAKEFOCUS, is shown by Eglot."
  (let ((file (eglot-uri-to-path uri)))
    (if (or external (not (eq takeFocus t)) (not (file-readable-p file)) (stet--page-p file)
            (active-minibuffer-window))
        (cl-call-next-method)
      ;; Behind the answer: what is opened may have requests of its own.
      (run-at-time 0 nil
                   (lambda ()
                     (xref-push-marker-stack)
                     (pop-to-buffer-same-window (find-file-noselect file))
                     (when selection (goto-char (car (eglot-range-region selection))))
                     (stet--show-hunk)))
      '(:success t))))

(defun stet--look (server)
  "Ask SERVER soon what is at work and what waits, for the mode line."
  (unless (stet--status-timer server)
    (setf (stet--status-timer server)
          (run-with-timer
           0.2 nil
           (lambda ()
             (setf (stet--status-timer server) nil)
             (when (jsonrpc-running-p server)
               (jsonrpc-async-request
                server :workspace/executeCommand '(:command "stet.status" :arguments [])
                :success-fn (lambda (status)
                              (setf (stet--status server) status)
                              (force-mode-line-update t))
                :error-fn #'ignore)))))))

(defun stet--mode-line ()
  "What is at work and how much waits, for the mode line."
  (and-let* (((stet--served-p))
             (server (eglot-current-server)))
    (let* ((status (stet--status server))
           (running (cl-remove "Stet: indexing" (mapcar #'cdr (stet--doing server))
                               :key #'car :test #'equal))
           (pending (or (plist-get status :pending) 0))
           (conflicts (or (plist-get status :conflicts) 0))
           ;; The model's name is long, and known to you.
           (doing (and running
                       (replace-regexp-in-string "\\`.*: round" "round"
                                                 (or (cdar running) "running"))))
           (parts (delq nil (list (and (> pending 0) (format "%d pending" pending))
                                  (and (> conflicts 0) (format "%d in conflict" conflicts))
                                  (and doing
                                       ;; In a mode line `%' has a meaning.
                                       (string-replace "%" "%%" (truncate-string-to-width
                                                                 doing 24 nil nil t)))))))
      (propertize (concat " [Stet" (and parts (concat ": " (string-join parts ", "))) "]")
                  'face (and running 'eglot-mode-line)
                  'help-echo (mapconcat #'car running "\n")))))

;;; Where you are

(defvar stet--selection-timer nil
  "Runs a tenth of a second after you have moved.")

(defvar stet--selection nil
  "What was last told of where you are.")

(defun stet--region ()
  "The region if there is one, else point twice: (ANCHOR . POINT)."
  (cons (if (use-region-p) (mark) (point)) (point)))

(defun stet--range ()
  "The region if there is one, else point, as an LSP range."
  (pcase-let ((`(,anchor . ,active) (stet--region)))
    (list :start (eglot--pos-to-lsp-position (min anchor active))
          :end (eglot--pos-to-lsp-position (max anchor active)))))

(defun stet--uri ()
  "The URI of this buffer's file."
  (plist-get (eglot--TextDocumentIdentifier) :uri))

(defun stet--tell-selection ()
  "Tell Stet where you are, if it serves that buffer and you have moved."
  (with-current-buffer (window-buffer)
    (when (and (stet--served-p) (not (minibufferp)))
      (let ((server (stet--server)))
        (unless (eq (current-buffer) (car stet--selection))
          (jsonrpc-notify server :$/stet/didFocus `(:textDocument (:uri ,(stet--uri)))))
        (pcase-let* ((`(,anchor . ,active) (stet--region))
                     (now (list (current-buffer) anchor active (window-start)
                                (buffer-chars-modified-tick))))
          (unless (equal now stet--selection)
            (setq stet--selection now)
            (stet--flush server)
            (jsonrpc-notify
             server :$/stet/didChangeSelection
             (list :textDocument (list :uri (stet--uri))
                   :selections (vector (list :anchor (eglot--pos-to-lsp-position anchor)
                                             :active (eglot--pos-to-lsp-position active)))
                   :visibleRange
                   (list :start (eglot--pos-to-lsp-position (window-start))
                         :end (eglot--pos-to-lsp-position (window-end nil t)))))))))))

(defun stet--after-command ()
  "Show the hunk at point, and tell Stet soon where you are."
  (stet--show-hunk)
  (when (timerp stet--selection-timer) (cancel-timer stet--selection-timer))
  (setq stet--selection-timer (run-with-idle-timer 0.1 nil #'stet--tell-selection)))

;;; The hunk at point

(defvar-local stet--overlay nil
  "Shows the diff of the hunk at point.")

(defun stet--hunk-diagnostic ()
  "The diagnostic of the hunk on this line, in the protocol's form, or nil."
  (cl-loop for found in (flymake-diagnostics (line-beginning-position)
                                             (min (point-max) (1+ (line-end-position))))
           for diagnostic = (cdr (assq 'eglot-lsp-diag (flymake-diagnostic-data found)))
           when (and (equal (plist-get diagnostic :source) "stet")
                     (member (plist-get diagnostic :code) '("proposal" "conflict"))
                     (<= (flymake-diagnostic-beg found) (line-end-position))
                     (or (< (point) (flymake-diagnostic-end found))
                         (= (flymake-diagnostic-end found) (point-max))))
           return (cons found diagnostic)))

(defun stet--diff-text (message)
  "MESSAGE of a hunk's diagnostic, coloured."
  (mapconcat (lambda (line)
               (propertize (concat line "\n")
                           'face (pcase (and (> (length line) 0) (aref line 0))
                                   (?+ 'stet-added) (?- 'stet-removed) (_ 'shadow))))
             (split-string message "\n") ""))

(defun stet--show-hunk ()
  "Show the diff of the hunk at point below its lines, and no other."
  (when (overlayp stet--overlay) (delete-overlay stet--overlay))
  (pcase (and flymake-mode (stet--served-p) (stet--hunk-diagnostic))
    (`(,found . ,diagnostic)
     (let* ((end (flymake-diagnostic-end found))
            (below (save-excursion (goto-char (max (flymake-diagnostic-beg found) (1- end)))
                                   (line-end-position)))
            (at-end (= below (point-max))))
       (setq stet--overlay (make-overlay below (if at-end below (1+ below)) nil t))
       (overlay-put stet--overlay 'after-string
                    (concat (and at-end "\n") (stet--diff-text (plist-get diagnostic :message))))))))

(defun stet--with-hunk (states nothing function)
  "Call FUNCTION with the hunk on this line that is in one of STATES, strings.
NOTHING is said if there is none; of several the user takes one."
  (let ((line (1- (line-number-at-pos nil t))))
    (stet--run
     "stet.proposals" (list :uri (stet--uri))
     (lambda (hunks)
       (let ((here (seq-filter
                    (lambda (hunk)
                      (let* ((range (plist-get hunk :range))
                             (first (plist-get (plist-get range :start) :line))
                             (end (plist-get range :end))
                             (past (+ (plist-get end :line)
                                      (if (> (plist-get end :character) 0) 1 0))))
                        (and (member (plist-get hunk :state) states)
                             (<= first line) (< line (max past (1+ first))))))
                    hunks)))
         (cond ((null here) (message "Stet: %s" nothing))
               ((null (cdr here)) (funcall function (car here)))
               (t (funcall function
                           (stet--choose "Which of these: " here
                                         (lambda (hunk)
                                           (format "%s (%s): %s" (plist-get hunk :hunk)
                                                   (plist-get hunk :state)
                                                   (plist-get hunk :summary))))))))))))

(defun stet--choose (prompt things title)
  "Let the user choose of THINGS with PROMPT; TITLE gives the title of one."
  (let ((titles (mapcar (lambda (thing) (cons (funcall title thing) thing)) things)))
    (cdr (assoc (completing-read prompt titles nil t) titles))))

(defun stet--decide (command &rest arguments)
  "Run COMMAND with ARGUMENTS for the hunk that waits on this line."
  (stet--with-hunk
   '("pending" "conflict") "no hunk waits on this line"
   (lambda (hunk)
     (stet--run command
                (append (list :hunk (plist-get hunk :hunk) :hash (plist-get hunk :hash)) arguments)
                #'stet--tell-refused))))

(defun stet--tell-refused (answer)
  "Show what of an ANSWER was refused, and why."
  (when-let* ((refused (append (plist-get answer :refused) nil)))
    (message "Stet: %s" (mapconcat (lambda (one) (plist-get one :reason)) refused "; "))))

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
