;;; stet-server.el --- The connection to Stet, and its messages  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; A part of `stet', which loads it from its own folder: how Eglot runs Stet, beside the language's
;; own server if `rass' is installed, and how its messages and edits are handled.

;;; Code:

(require 'cl-lib)
(require 'eglot)
(require 'xref)

(declare-function stet--place-hunks "stet-hunk")
(declare-function stet--tell-selection "stet-hunk")
(declare-function stet--update-reviews "stet-review")
(declare-function stet--tails "stet-chat")
(declare-function stet--follow "stet-chat")
(declare-function stet--chat-shown-p "stet-chat")

(defgroup stet nil
  "A language server that is a coding and writing agent."
  :group 'eglot)

(defcustom stet-beside 'guess
  "The language servers that run beside Stet; this needs the program `rass'.
`guess' is the server that Eglot knows for the first file you open of a project.
A list has command lines, each a list of strings.  With nil, Stet runs alone.
Each server gets all files of the project, as a buffer has one connection."
  :type '(choice (const guess) (repeat (repeat string))))

;;; The connection

(defclass stet-server (eglot-lsp-server)
  ((doing :initform nil :accessor stet--doing
          :documentation "Progress of running turns: (TOKEN TITLE . MESSAGE).")
   (status :initform nil :accessor stet--status
           :documentation "The last answer of `stet.status'.")
   (timer :initform nil :accessor stet--status-timer
          :documentation "Timer of the next request of the status.")
   (published :initform (make-hash-table :test #'equal) :accessor stet--published
              :documentation "The diagnostics of pending hunks, by file."))
  :documentation "A connection to Stet, or to Stet and other servers through `rass'.")

(defvar stet--modes
  '((prog-mode :language-id "") (text-mode :language-id "") (conf-mode :language-id "")
    (diff-mode :language-id ""))
  "The modes that Stet serves: all, so that one server knows the whole project.")

(defconst stet--markdown "\\.\\(?:md\\|markdown\\)\\'"
  "The names of Markdown files; Emacs itself has no mode for them.")

(defvar stet--entry (cons stet--modes #'stet--contact)
  "Our entry in `eglot-server-programs'.")

(defvar stet--last nil
  "The connection that was last used; chats and review pages belong to it.")

(defvar stet--told nil
  "Warnings that were shown and are not repeated.")

(defun stet--tell-once (format-string &rest arguments)
  "Show a warning of FORMAT-STRING and ARGUMENTS, but only once."
  (let ((text (apply #'format-message format-string arguments)))
    (unless (member text stet--told)
      (push text stet--told)
      (display-warning 'stet text))))

(defun stet--installed-p ()
  "Return whether `stet' is on the PATH; if not, warn once."
  (or (executable-find "stet")
      (ignore
       (stet--tell-once "`stet' is not in a folder of `exec-path', so nothing is started.  \
Install it, or add its folder to the PATH that Emacs is started with, then open the file again"))))

(defun stet--own-entry ()
  "Return Eglot's (LANGUAGES . CONTACT) for this buffer without Stet."
  (let ((eglot-server-programs (remq stet--entry eglot-server-programs)))
    (eglot--lookup-mode major-mode)))

(defun stet--own-server ()
  "Return the command line of the language's own server, if it is installed."
  (let* ((contact (cdr (stet--own-entry)))
         ;; Eglot's guess fails if no server is installed.
         (command (if (functionp contact)
                      (ignore-errors (funcall contact nil (eglot--current-project)))
                    contact)))
    (and command (proper-list-p command) (cl-every #'stringp command)
         (executable-find (car command))
         command)))

(defun stet--contact (&rest _)
  "Return the contact of Stet, for `eglot-server-programs'."
  (let ((beside (if (eq stet-beside 'guess)
                    (ensure-list (and-let* ((own (stet--own-server))) (list own)))
                  stet-beside))
        (stet '("stet" "serve")))
    (cond ((null beside))
          ((not (executable-find "rass"))
           (stet--tell-once "Only Stet serves the files here: `rass' is not on the PATH.  \
`pip install rassumfrassum' to have `%s' beside it, or set `stet-beside' to nil" (caar beside)))
          ;; Eglot may have an entry for `rass' with its own servers.
          ((equal (caar beside) "rass") (setq stet `(,@(car beside) "--" ,@stet)))
          (t (setq stet `("rass" ,@(mapcan (lambda (one) (cons "--" (copy-sequence one)))
                                           (append beside (list stet)))))))
    (cons 'stet-server stet)))

(defvar stet--attempts 0
  "The number of connections in a row that lacked Stet.")

(defun stet--complete-p (server)
  "Return whether the commands of Stet are known to SERVER."
  (let ((provider (plist-get (eglot--capabilities server) :executeCommandProvider)))
    (seq-contains-p (plist-get provider :commands) "stet.ask")))

(defun stet--check-connection (server)
  "Connect SERVER again if Stet is missing in it.
`rass' waits three seconds for the slower servers; without the answer of Stet,
Eglot does not know its commands."
  (when (cl-typep server 'stet-server)
    (cond ((stet--complete-p server) (setq stet--attempts 0))
          ((< (cl-incf stet--attempts) 4)
           (message "Stet was slow to start; connecting again")
           (run-at-time 0 nil (lambda ()
                                (when (jsonrpc-running-p server)
                                  (let (eglot-sync-connect) (eglot-reconnect server))))))
          (t (setq stet--attempts 0)
             (display-warning 'stet "Stet is too slow to start beside other servers.  \
Try M-x eglot-reconnect, or set `stet-beside' to nil")))))

(defun stet--language-id ()
  "Return the LSP language id of this buffer."
  (or (and-let* ((name (cdaar (stet--own-entry)))) (unless (derived-mode-p 'text-mode) name))
      (if (derived-mode-p 'text-mode)
          (if (string-match-p stet--markdown (or buffer-file-name "")) "markdown" "plaintext")
        (string-remove-suffix "-mode" (string-remove-suffix "-ts-mode" (symbol-name major-mode))))))

(cl-defmethod jsonrpc-connection-send :before
  ((_server stet-server) &key method params &allow-other-keys)
  "Set the language id in PARAMS of didOpen, as Stet's entry has none."
  (when (eq method :textDocument/didOpen)
    (plist-put (plist-get params :textDocument) :languageId (stet--language-id))))

(defun stet--server ()
  "Return the connection of this buffer, or the last one."
  (let ((here (eglot-current-server)))
    (cond ((cl-typep here 'stet-server) (setq stet--last here))
          ((and stet--last (jsonrpc-running-p stet--last)) stet--last)
          ((not (executable-find "stet"))
           (user-error "`stet' is not in a folder of `exec-path'; install it, or fix the PATH"))
          (t (user-error "Stet does not serve this buffer; start it with %s"
                         (substitute-command-keys "\\[eglot]"))))))

(defun stet--served-p ()
  "Return whether Stet serves this buffer."
  (and (eglot-managed-p) (cl-typep (eglot-current-server) 'stet-server)))

(defun stet--flush (server)
  "Send typed text to SERVER now; Eglot would send it half a second later."
  (dolist (buffer (eglot--managed-buffers server))
    (when (buffer-live-p buffer)
      (with-current-buffer buffer
        (when (eglot-managed-p) (eglot--signal-textDocument/didChange))))))

(defun stet--run (command arguments &optional on-answer)
  "Run COMMAND with ARGUMENTS, a plist, asynchronously.
Call ON-ANSWER with the result, or show the error.  The selection is sent first,
so that the command applies to it."
  (let ((server (stet--server)))
    (stet--tell-selection)
    (stet--flush server)
    (jsonrpc-async-request
     server :workspace/executeCommand
     (list :command command :arguments (if arguments (vector arguments) []))
     :timeout nil
     ;; In a timer, as it may read from the minibuffer.
     :success-fn (lambda (answer) (when on-answer (run-at-time 0 nil on-answer answer)))
     :error-fn (lambda (problem) (message "Stet: %s" (plist-get problem :message))))))

;;; Messages and edits of the server

(defun stet--page-p (file)
  "Return whether FILE is a review page or a chat."
  (and file (string-match-p
             "[/\\]stet[/\\]\\(review-[[:xdigit:]-]+\\.diff\\|chat-[[:xdigit:]]+-[a-zA-Z0-9_-]+\\.md\\)\\'"
             file)))

(defun stet--page-project (_folder)
  "Return the project of the server that wrote the page in this buffer."
  (and eglot-lsp-context stet--last (stet--page-p buffer-file-name)
       (eglot--project stet--last)))

(defun stet--keeping-message (function)
  "Call FUNCTION without its messages, and return its value.
The echo area is kept: even an inhibited message would clear it."
  (let ((shown (current-message)) (inhibit-message t) message-log-max)
    (prog1 (funcall function)
      (when shown
        (let (inhibit-message) (message "%s" shown))))))

(defun stet--edited-files (edit)
  "Return the files of EDIT, a WorkspaceEdit."
  (mapcar (lambda (change) (eglot-uri-to-path (plist-get (plist-get change :textDocument) :uri)))
          (plist-get edit :documentChanges)))

(defun stet--saved-page (file)
  "Return whether FILE is an open page and is not modified."
  (and-let* (((stet--page-p file))
             (buffer (find-buffer-visiting file)))
    (not (buffer-modified-p buffer))))

(cl-defmethod eglot-handle-request
  ((server stet-server) (_method (eql workspace/applyEdit)) &key label edit &allow-other-keys)
  "Apply EDIT with its LABEL to the current text; notify SERVER at once."
  (let* ((files (stet--edited-files edit))
         (ours (or (string-prefix-p "Stet: " (or label "")) (cl-every #'stet--page-p files)))
         ;; You have accepted it already, and Eglot takes every answer to its question as a yes.
         (eglot-confirm-server-edits (unless ours eglot-confirm-server-edits)))
    (stet--flush server)
    ;; Saving a new file would ask about its folder if that did not exist.
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
        ;; Stet keeps its pages itself, so you need not save them.
        (dolist (file saved)
          (with-current-buffer (find-buffer-visiting file) (set-buffer-modified-p nil)))
        (stet--flush server)))))

(cl-defmethod eglot-handle-notification
  ((_server stet-server) (_method (eql window/showMessage)) &key message &allow-other-keys)
  "Show MESSAGE; a long one in its own window, unless a chat is visible."
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
  "How the server names commands: (REGEXP FORMAT COMMAND).
A match is replaced by its first group and FORMAT with the keys of COMMAND.")

(defun stet--with-keys (text)
  "Return TEXT, a message of the server, with keys in place of commands."
  (pcase-dolist (`(,regexp ,format ,command) stet--command-names)
    (let ((keys (format format (substitute-command-keys (format "\\[%s]" command)))))
      (setq text (replace-regexp-in-string
                  regexp (lambda (found) (concat (match-string 1 found) keys)) text t t))))
  text)

(defun stet--show-line (text)
  "Show TEXT on one line of the echo area.
If it is too long, the numbers of rounds and tokens are only in `*Messages*'."
  (if (< (string-width text) (frame-width)) (message "%s" text)
    (let ((inhibit-message t)) (message "%s" text))
    (let (message-log-max)
      (message "%s" (replace-regexp-in-string " ([0-9]+ rounds?, .*)\\'" "" text)))))

(cl-defmethod eglot-handle-notification :after
  ((server stet-server) (_method (eql $/progress)) &key token value &allow-other-keys)
  "Store the progress of SERVER for the mode line."
  (let ((title (or (plist-get value :title) (car (alist-get token (stet--doing server) nil nil #'equal)))))
    (setf (alist-get token (stet--doing server) nil t #'equal)
          (and title (string-prefix-p "Stet: " title)
               (not (equal (plist-get value :kind) "end"))
               (cons title (plist-get value :message)))))
  ;; Eglot drops its own percentage after two seconds, but does not redraw the mode line.
  (when (equal (plist-get value :kind) "end")
    (run-with-timer 2.1 nil #'force-mode-line-update t))
  (stet--look server))

(defun stet--hunk-diagnostic-p (diagnostic)
  "Return whether DIAGNOSTIC, an LSP object, is a pending hunk."
  (and (equal (plist-get diagnostic :source) "stet")
       (member (plist-get diagnostic :code) '("proposal" "conflict"))))

(cl-defmethod eglot-handle-notification
  ((server stet-server) (method (eql textDocument/publishDiagnostics))
   &key uri diagnostics &allow-other-keys)
  "Store the hunks that SERVER publishes for URI by METHOD, and draw them.
Leave other DIAGNOSTICS, and those of files that aren't open, to Eglot."
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
  "Declare that Emacs draws hunks, so that their diagnostics are one line."
  (plist-put (copy-sequence (cl-call-next-method)) :experimental '(:stet (:drawsHunks t))))

(defun stet--look (server)
  "Request the status of SERVER soon, for the mode line."
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
  "Return the text of the mode line: what is running, and the pending hunks."
  (and-let* (((stet--served-p))
             (server (eglot-current-server)))
    (let* ((status (stet--status server))
           (running (cl-remove "Stet: indexing" (mapcar #'cdr (stet--doing server))
                               :key #'car :test #'equal))
           (pending (or (plist-get status :pending) 0))
           (conflicts (or (plist-get status :conflicts) 0))
           ;; Leave out the model's name, which is long.
           (doing (and running
                       (replace-regexp-in-string "\\`.*: round" "round"
                                                 (or (cdar running) "running"))))
           (parts (delq nil (list (and (> pending 0) (format "%d pending" pending))
                                  (and (> conflicts 0) (format "%d in conflict" conflicts))
                                  (and doing
                                       ;; `%' is special in a mode line.
                                       (string-replace "%" "%%" (truncate-string-to-width
                                                                 doing 24 nil nil t)))))))
      (propertize (concat " [Stet" (and parts (concat ": " (string-join parts ", "))) "]")
                  'face (and running 'eglot-mode-line)
                  'help-echo (mapconcat #'car running "\n")))))

(provide 'stet-server)
;;; stet-server.el ends here
