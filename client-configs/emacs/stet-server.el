;;; stet-server.el --- The connection to Stet, and what it says  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; A part of `stet', which loads it from its own folder: how Eglot runs Stet, beside a language's own
;; server where there is `rass', and what becomes of what Stet says.

;;; Code:

(require 'cl-lib)
(require 'eglot)
(require 'xref)

(declare-function stet--place-hunks "stet-hunk")
(declare-function stet--tell-selection "stet-hunk")
(declare-function stet--update-reviews "stet-hunk")
(declare-function stet--tails "stet-chat")
(declare-function stet--follow "stet-chat")
(declare-function stet--chat-shown-p "stet-chat")

(defgroup stet nil
  "A language server that is a coding and writing agent."
  :group 'eglot)

(defcustom stet-beside 'guess
  "The language servers beside Stet, which takes the program `rass'.
Either `guess': the one that Eglot knows for the first file opened of a project;
or a list of command lines, each a list of strings; nil is Stet alone.
Each gets all files of the project, as a buffer has one connection."
  :type '(choice (const guess) (repeat (repeat string))))

;;; The connection

(defclass stet-server (eglot-lsp-server)
  ((doing :initform nil :accessor stet--doing
          :documentation "Progress of running turns: (TOKEN TITLE . MESSAGE).")
   (status :initform nil :accessor stet--status
           :documentation "What `stet.status' last answered.")
   (timer :initform nil :accessor stet--status-timer
          :documentation "Until it is asked again.")
   (published :initform (make-hash-table :test #'equal) :accessor stet--published
              :documentation "The diagnostics of pending hunks, by file."))
  :documentation "A connection to Stet, perhaps with other servers beside it.")

(defvar stet--modes
  '((prog-mode :language-id "") (text-mode :language-id "") (conf-mode :language-id "")
    (diff-mode :language-id ""))
  "What Stet serves: all files, so that one server knows a whole project.")

(defconst stet--markdown "\\.\\(?:md\\|markdown\\)\\'"
  "The names of Markdown files; Emacs itself has no mode for them.")

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
      (if (derived-mode-p 'text-mode)
          (if (string-match-p stet--markdown (or buffer-file-name "")) "markdown" "plaintext")
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
           (user-error "`stet' is not in a folder of `exec-path'; install it, or fix the PATH"))
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
  "Run COMMAND with ARGUMENTS, a plist; Emacs does not wait.
ON-ANSWER is called with the result.  A refusal is shown.  The command acts
where you are: the last move is sent first."
  (let ((server (stet--server)))
    (stet--tell-selection)
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

(defun stet--keeping-message (function)
  "Call FUNCTION without its messages, and return its value.
What the echo area shows stays: even a message that is inhibited would clear it."
  (let ((shown (current-message)) (inhibit-message t) message-log-max)
    (prog1 (funcall function)
      (when shown
        (let (inhibit-message) (message "%s" shown))))))

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
    (let ((saved (seq-filter #'stet--saved-page files))
          (tails (stet--tails files)))
      (prog1 (if (cl-every #'stet--page-p files)
                 (stet--keeping-message #'cl-call-next-method)
               (let ((inhibit-message ours)) (cl-call-next-method)))
        (stet--follow tails)
        ;; What Stet writes into its pages, it also keeps: you are not asked to save it.
        (dolist (file saved)
          (with-current-buffer (find-buffer-visiting file) (set-buffer-modified-p nil)))
        (stet--flush server)))))

(cl-defmethod eglot-handle-notification
  ((_server stet-server) (_method (eql window/showMessage)) &key message &allow-other-keys)
  "Show MESSAGE; a long one in a window of its own, unless a chat is shown."
  (if (not (string-prefix-p "Stet: " message))
      (cl-call-next-method)
    (setq message (string-trim-right (stet--with-keys message)))
    (cond ((not (string-search "\n" message)) (stet--show-line message))
          ((stet--chat-shown-p) (message "%s" (car (split-string message "\n"))))
          (t (display-message-or-buffer message "*Stet says*")))))

(defconst stet--command-names
  '(("\nAnswer with [^\0]*\\'" "\n(answer: %s)" stet-answer)
    ("`stet\\.undo`" "%s" stet-undo)
    ("\\bStet: Restore\\b" "%s" stet-restore)
    ("\\( hunks? to review\\)\\." " (%s)." stet-next))
  "What the server says of commands: (REGEXP FORMAT COMMAND).
FORMAT, with the keys of COMMAND, takes the place of the match after its first
group.")

(defun stet--with-keys (text)
  "Return TEXT, a message of the server, with the keys of the commands it names."
  (pcase-dolist (`(,regexp ,format ,command) stet--command-names)
    (let ((keys (format format (substitute-command-keys (format "\\[%s]" command)))))
      (setq text (replace-regexp-in-string
                  regexp (lambda (found) (concat (match-string 1 found) keys)) text t t))))
  text)

(defun stet--show-line (text)
  "Show TEXT in one line of the echo area, so that it covers nothing.
Where it is too long, its numbers of rounds and tokens are only in `*Messages*'."
  (if (< (string-width text) (frame-width)) (message "%s" text)
    (let ((inhibit-message t)) (message "%s" text))
    (let (message-log-max)
      (message "%s" (replace-regexp-in-string " ([0-9]+ rounds?, .*)\\'" "" text)))))

(cl-defmethod eglot-handle-notification :after
  ((server stet-server) (_method (eql $/progress)) &key token value &allow-other-keys)
  "Keep what SERVER does, for the mode line."
  (let ((title (or (plist-get value :title) (car (alist-get token (stet--doing server) nil nil #'equal)))))
    (setf (alist-get token (stet--doing server) nil t #'equal)
          (and title (string-prefix-p "Stet: " title)
               (not (equal (plist-get value :kind) "end"))
               (cons title (plist-get value :message)))))
  (stet--look server))

(defun stet--hunk-diagnostic-p (diagnostic)
  "Whether DIAGNOSTIC, in the protocol's form, is of a pending hunk."
  (and (equal (plist-get diagnostic :source) "stet")
       (member (plist-get diagnostic :code) '("proposal" "conflict"))))

(cl-defmethod eglot-handle-notification
  ((server stet-server) (method (eql textDocument/publishDiagnostics))
   &key uri diagnostics &allow-other-keys)
  "Keep the hunks in URI of which SERVER informs by METHOD, and draw them.
Other DIAGNOSTICS, and those of files that aren't open, are left to Eglot."
  (let* ((file (expand-file-name (eglot-uri-to-path uri)))
         (hunks (vconcat (seq-filter #'stet--hunk-diagnostic-p diagnostics)))
         (buffer (find-buffer-visiting file)))
    (if (seq-empty-p hunks) (remhash file (stet--published server))
      (puthash file hunks (stet--published server)))
    (if (not (and buffer (with-current-buffer buffer (stet--served-p))))
        (cl-call-next-method)
      (cl-call-next-method server method :uri uri
                           :diagnostics (vconcat (seq-remove #'stet--hunk-diagnostic-p diagnostics)))
      (with-current-buffer buffer (stet--place-hunks hunks)))
    (stet--look server)))

(cl-defmethod eglot-client-capabilities ((_server stet-server))
  "Declare that Emacs draws hunks, so that a diagnostic of one is a line."
  (plist-put (copy-sequence (cl-call-next-method)) :experimental '(:stet (:drawsHunks t))))

(defun stet--look (server)
  "Ask SERVER soon for its status, for the mode line."
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
                              (stet--update-reviews server)
                              (force-mode-line-update t))
                :error-fn #'ignore)))))))

(defun stet--mode-line ()
  "Return the running work and the number of pending hunks, for the mode line."
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

(provide 'stet-server)
;;; stet-server.el ends here
