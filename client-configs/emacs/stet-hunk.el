;;; stet-hunk.el --- Pending hunks, and where you are, for Stet  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; A part of `stet', which loads it from its own folder: the pending hunks of each file, which
;; keep their places while you type; the commands that visit, accept and reject them; and the cursor
;; position and selection, which are sent to Stet.

;;; Code:

(require 'cl-lib)
(require 'eglot)
(require 'flymake)
(require 'xref)
(require 'stet-server)
(require 'stet-overlays)
(require 'stet-review)

;;; Cursor and selection

(defvar stet--selection-timer nil
  "Timer that sends the selection, a tenth of a second after a command.")

(defvar stet--selection nil
  "The buffer and selection that were last sent to the server.")

(defun stet--region ()
  "Return (MARK . POINT), or (POINT . POINT) if the region is not active."
  (cons (if (use-region-p) (mark) (point)) (point)))

(defun stet--range ()
  "Return the region, or an empty range at point, as an LSP range."
  (pcase-let ((`(,anchor . ,active) (stet--region)))
    (list :start (eglot--pos-to-lsp-position (min anchor active))
          :end (eglot--pos-to-lsp-position (max anchor active)))))

(defun stet--uri ()
  "Return the URI of this buffer's file."
  (plist-get (eglot--TextDocumentIdentifier) :uri))

(defun stet--tell-selection ()
  "Send the selection of the selected window to Stet, if it has changed."
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
  "Send the selection to Stet when Emacs is idle."
  (when (timerp stet--selection-timer) (cancel-timer stet--selection-timer))
  (setq stet--selection-timer (run-with-idle-timer 0.1 nil #'stet--tell-selection)))

;;; The hunks of a buffer

(cl-defstruct (stet--hunk (:constructor stet--make-hunk) (:copier nil))
  "A pending hunk of a buffer."
  (id nil :documentation "The id that commands of the server take.")
  (code nil :documentation "\"proposal\", or \"conflict\" if you have changed its lines.")
  (anchor nil :documentation "An overlay on its lines, which moves with the text.")
  (answer nil :documentation "The answer of `stet.proposals', once it is drawn.")
  (drawn nil :documentation "The overlays that draw it."))

(defvar-local stet--hunks nil
  "The pending hunks of this buffer, sorted by position.")

(defvar-local stet--report nil
  "Flymake's report function for this buffer.")

(defvar-local stet--tick nil
  "The value of `buffer-chars-modified-tick' when the hunks were drawn.")

(defvar-local stet--draw-timer nil
  "Timer that requests the hunks and draws them.")

(defvar-local stet--reveal nil
  "Non-nil if the hunk at point must be scrolled into view once it is drawn.")

(defun stet--place-hunks (diagnostics)
  "Replace the hunks of this buffer by those of DIAGNOSTICS, as LSP objects."
  (let ((before stet--hunks))
    (setq stet--hunks
          (cl-loop
           for said across diagnostics
           for (start . end) = (eglot-range-region (plist-get said :range))
           for named = (stet--named said)
           for known = (if named (cl-find named before :key #'stet--hunk-id :test #'equal)
                         (cl-find start before :key #'stet--hunk-start))
           for id = (or named (and known (stet--hunk-id known)))
           for anchor = (make-overlay start end)
           do (overlay-put anchor 'stet-diagnostic said)
           if known do (delete-overlay (stet--hunk-anchor known))
           and do (setq before (remq known before))
           collect (stet--make-hunk :id id :code (plist-get said :code) :anchor anchor
                                    :answer (and known (stet--hunk-answer known))
                                    :drawn (and known (stet--hunk-drawn known)))))
    (cl-callf sort stet--hunks :key #'stet--hunk-start)
    (mapc #'stet--erase before)
    (stet--report-hunks)
    (stet--draw-soon)))

(defun stet--named (diagnostic)
  "Return the hunk id in DIAGNOSTIC, or nil.
`rass' replaces the data of diagnostics by a number."
  (let ((data (plist-get diagnostic :data)))
    (and (consp data) (plist-get data :hunk))))

(defun stet--name-hunks (answers)
  "Take the missing ids of hunks from ANSWERS, which are sorted by position."
  (let ((open (seq-filter (lambda (answer)
                            (member (plist-get answer :state) '("pending" "conflict")))
                          answers)))
    (when (length= open (length stet--hunks))
      (cl-loop for hunk in stet--hunks
               for answer in open
               for said = (overlay-get (stet--hunk-anchor hunk) 'stet-diagnostic)
               unless (stet--named said)
               do (setf (stet--hunk-id hunk) (plist-get answer :hunk))))))

(defun stet--hunk-start (hunk)
  "Return the current start of HUNK."
  (overlay-start (stet--hunk-anchor hunk)))

(defun stet--erase (hunk)
  "Delete all overlays of HUNK."
  (delete-overlay (stet--hunk-anchor hunk))
  (mapc #'delete-overlay (stet--hunk-drawn hunk)))

(defun stet--forget-hunks ()
  "Remove all hunks of this buffer."
  (mapc #'stet--erase stet--hunks)
  (setq stet--hunks nil))

(defun stet--flymake (report &rest _)
  "Report the pending hunks of this buffer to REPORT; a Flymake backend."
  (setq stet--report report)
  (stet--report-hunks))

(defun stet--report-hunks ()
  "Report the hunks of this buffer to Flymake."
  (when (and stet--report flymake-mode)
    (save-restriction
      (widen)
      (funcall
       stet--report
       (mapcar (lambda (hunk)
                 (let ((said (overlay-get (stet--hunk-anchor hunk) 'stet-diagnostic))
                       (start (stet--hunk-start hunk)))
                   (flymake-make-diagnostic
                    (current-buffer) start
                    (max (overlay-end (stet--hunk-anchor hunk)) (min (1+ start) (point-max)))
                    (if (equal (stet--hunk-code hunk) "conflict") :warning :note)
                    (concat "Stet: " (plist-get said :message))
                    `((eglot-lsp-diag . ,said)) '((face) (before-string)))))
               stet--hunks)
       :region (cons (point-min) (point-max))))))

(defun stet--draw-soon (&optional seconds)
  "Draw the hunks of this buffer after SECONDS, by default 0."
  (unless stet--draw-timer
    (setq stet--draw-timer (run-with-timer (or seconds 0) nil #'stet--draw (current-buffer)))))

(defun stet--draw (buffer)
  "Request what the hunks of BUFFER change, and draw them."
  (when (buffer-live-p buffer)
    (with-current-buffer buffer
      (setq stet--draw-timer nil)
      (when (and stet--hunks (stet--served-p))
        (stet--flush (stet--server))
        (let ((tick (buffer-chars-modified-tick)))
          (jsonrpc-async-request
           (stet--server) :workspace/executeCommand
           (list :command "stet.proposals"
                 :arguments (vector (list :uri (stet--uri) :display t)))
           :success-fn (lambda (answer)
                         (when (buffer-live-p buffer)
                           (with-current-buffer buffer
                             ;; Typing in the meantime has moved the lines of the answer.
                             (if (= tick (buffer-chars-modified-tick)) (stet--show-hunks answer)
                               (stet--draw-soon 0.1)))))
           :error-fn #'ignore))))))

(defun stet--show-hunks (answers)
  "Draw the hunks of this buffer from ANSWERS of `stet.proposals'."
  (let ((by-id (make-hash-table :test #'equal)))
    (seq-doseq (answer answers) (puthash (plist-get answer :hunk) answer by-id))
    (setq stet--tick (buffer-chars-modified-tick))
    (stet--name-hunks answers)
    (dolist (hunk stet--hunks)
      (when-let* ((answer (gethash (stet--hunk-id hunk) by-id)))
        (mapc #'delete-overlay (stet--hunk-drawn hunk))
        (setf (stet--hunk-answer hunk) answer
              (stet--hunk-drawn hunk) (stet--draw-hunk answer (stet--hunk-start hunk)))))
    (when (and stet--reveal (eq (window-buffer) (current-buffer)))
      (setq stet--reveal nil)
      (when-let* ((hunk (car (stet--hunks-here)))) (stet--scroll-to hunk)))))

(defun stet--hunks-here ()
  "Return the pending hunks on this line."
  (let ((start (pos-bol)) (end (pos-eol)))
    (seq-filter (lambda (hunk)
                  (let ((first (stet--hunk-start hunk))
                        (past (overlay-end (stet--hunk-anchor hunk))))
                    (and (<= first end)
                         (or (< start past) (= first start)))))
                stet--hunks)))

;;; Help in the echo area

(defun stet--hunk-help ()
  "Return the summary of the hunk at point and its keys, or nil."
  (when-let* ((hunk (car (stet--hunks-here))))
    (let ((said (overlay-get (stet--hunk-anchor hunk) 'stet-diagnostic)))
      (format "%d of %d: %s  %s"
              (1+ (cl-position hunk stet--hunks)) (length stet--hunks)
              (or (plist-get (stet--hunk-answer hunk) :summary)
                  (car (split-string (plist-get said :message) "\n")))
              (propertize (substitute-command-keys
                           (if (equal (stet--hunk-code hunk) "conflict")
                               "\\[stet-resolve] resolve"
                             "\\[stet-accept] accept, \\[stet-reject] reject"))
                          'face 'stet-note)))))

(eldoc-add-command 'stet-next 'stet-previous 'stet-accept 'stet-reject)

(defun stet--document (strategy)
  "Describe the hunk at point; if there is none, call STRATEGY."
  (or (stet--hunk-help) (funcall strategy)))

;;; From hunk to hunk

(defun stet--scroll-to (hunk)
  "Scroll so that HUNK is visible, or its beginning if it is too long.
Open the folds that hide it."
  (dolist (overlay (overlays-at (point)))
    (when-let* ((open (overlay-get overlay 'isearch-open-invisible)))
      (funcall open overlay)))
  (when-let* ((answer (stet--hunk-answer hunk)))
    (let* ((lines (window-body-height))
           (height (stet--hunk-height answer))
           (row (count-screen-lines (window-start) (pos-bol))))
      (unless (and (pos-visible-in-window-p) (<= (+ row height 1) lines))
        (recenter (max 1 (min (/ lines 3) (- lines height 2))))))))

(defun stet--visit-hunk (hunk)
  "Go to HUNK of this buffer."
  (xref-push-marker-stack)
  (goto-char (stet--hunk-start hunk))
  (if (stet--hunk-answer hunk) (stet--scroll-to hunk) (setq stet--reveal t))
  (let (message-log-max)
    (message "%s" (stet--hunk-help))))

(defun stet--visit-place (place)
  "Go to PLACE, (FILE . DIAGNOSTIC)."
  (pcase-let* ((`(,file . ,said) place)
               (start (plist-get (plist-get said :range) :start)))
    (xref-push-marker-stack)
    (pop-to-buffer-same-window (find-file-noselect file))
    (widen)
    (goto-char (point-min))
    (forward-line (plist-get start :line))
    (setq stet--reveal t)
    (stet--draw-soon)
    ;; Neither Eglot nor Flymake shows diagnostics of a file that doesn't exist.
    (unless (file-exists-p file)
      (message "%s" (substitute-command-keys "Stet: new file; \\[stet-accept] creates it")))))

(defun stet--all-places (server)
  "Return the pending hunks of SERVER as sorted list of (FILE . DIAGNOSTIC)."
  (cl-loop for file in (sort (hash-table-keys (stet--published server)))
           append (mapcar (lambda (said) (cons file said))
                          (sort (gethash file (stet--published server))
                                :key (lambda (said)
                                       (plist-get (plist-get (plist-get said :range) :start)
                                                  :line))))))

(defun stet--go (forward)
  "Go to the next hunk if FORWARD, else to the previous one, in any file.
In a review page, go to the next or previous section.
This sends no request, so it is immediate."
  (if (not (stet--page-p buffer-file-name)) (stet--go-in-files forward)
    (if forward (diff-hunk-next) (diff-hunk-prev))
    (stet--show-section)))

(defun stet--go-in-files (forward)
  "Go to the next hunk of all files if FORWARD, else to the previous one."
  (let* ((file (and (stet--served-p) (buffer-file-name)))
         (places (stet--all-places (stet--server)))
         (start (pos-bol))
         (in-order (lambda (things) (if forward things (reverse things))))
         (here (seq-find (lambda (hunk)
                           (if forward (> (stet--hunk-start hunk) (pos-eol))
                             (< (stet--hunk-start hunk) start)))
                         (funcall in-order stet--hunks)))
         (others (seq-filter (lambda (place)
                               (and file (if forward (string< file (car place))
                                           (string< (car place) file))))
                             places)))
    (cond (here (stet--visit-hunk here))
          ((null places) (message "Stet: no pending hunks"))
          (t (let ((place (car (funcall in-order (or others places)))))
               (if-let* ((same (and file (equal (car place) file)
                                    (car (funcall in-order stet--hunks)))))
                   (stet--visit-hunk same)
                 (stet--visit-place place)))))))

;;; Decisions

(defun stet--choose (prompt things title &optional note)
  "Read one of THINGS from the minibuffer with PROMPT; return it.
The function TITLE gives the title of a thing, and NOTE the text shown after
it.  The first thing is the default."
  (let* ((titles (stet--titled things title))
         (annotate (lambda (text) (and note (funcall note (cdr (assoc text titles))))))
         (in-order (lambda (text predicate action)
                     (if (eq action 'metadata)
                         `(metadata (display-sort-function . identity)
                                    (annotation-function . ,annotate))
                       (complete-with-action action titles text predicate)))))
    (minibuffer-with-setup-hook #'stet--show-choices
      (cdr (assoc (completing-read (format-prompt prompt (caar titles)) in-order
                                   nil t nil nil (caar titles))
                  titles)))))

(defun stet--titled (things title)
  "Return an alist of THINGS by unique titles.  TITLE gives the title of one."
  (let (titles)
    (dolist (thing things (nreverse titles))
      (let* ((text (funcall title thing)) (unique text) (n 1))
        (while (assoc unique titles)
          (setq unique (format "%s<%d>" text (cl-incf n))))
        (push (cons unique thing) titles)))))

(defun stet--hunk-title (answer)
  "Return a title of a hunk from its ANSWER of stet.proposals.
Hunks of one turn may have the same summary, so the title has the first line
that is written, or that is deleted."
  (let* ((texts (list (plist-get answer :new) (plist-get answer :old)))
         (text (or (seq-find (lambda (one) (and one (not (string-blank-p one)))) texts) ""))
         (state (plist-get answer :state)))
    (format "%s%s: %s (%s)" (plist-get answer :hunk)
            (if (equal state "pending") "" (format " %s" state))
            (or (car (split-string text "\n" t "[ \t]+")) "")
            (plist-get answer :summary))))

(defun stet--show-choices ()
  "Show all choices at once, unless a completion package does."
  (unless (or icomplete-mode (bound-and-true-p vertico-mode)
              (not (eq completing-read-function #'completing-read-default)))
    (minibuffer-completion-help)))

(defun stet--hunk-at-point ()
  "Return the pending hunk on this line, as (ID HASH CODE PROTECTED), or nil.
If there are several, ask which.  HASH is the hash of the text that is drawn."
  (if (stet--page-p buffer-file-name)
      (and-let* ((id (stet--page-hunk))) (list id nil nil nil))
    (let* ((here (stet--hunks-here))
           (hunk (if (cdr here)
                     (stet--choose "Which hunk" here
                                   (lambda (one)
                                     (stet--hunk-title (stet--hunk-answer one))))
                   (car here)))
           (answer (and hunk (stet--hunk-answer hunk))))
      (and hunk
           (stet--hunk-id hunk)
           (list (stet--hunk-id hunk)
                 (and (eql stet--tick (buffer-chars-modified-tick)) (plist-get answer :hash))
                 (stet--hunk-code hunk)
                 (eq (plist-get answer :protected) t))))))

(defun stet--decide (command hunk &rest arguments)
  "Run COMMAND with ARGUMENTS on HUNK, a value of `stet--hunk-at-point'."
  (pcase-let ((`(,id ,hash) hunk)
              (page (stet--page-p buffer-file-name)))
    (stet--run command (append (list :hunk id) (and hash (list :hash hash)) arguments)
               #'stet--decided)
    (when page
      (ignore-errors (diff-hunk-next))
      (stet--show-section))))

(defun stet--decided (answer)
  "Show why hunks of ANSWER were refused; erase those that were not."
  (if-let* ((refused (append (plist-get answer :refused) nil)))
      (message "Stet: %s" (mapconcat (lambda (one) (plist-get one :reason)) refused "; "))
    (dolist (buffer (buffer-list))
      (with-current-buffer buffer
        (dolist (hunk stet--hunks)
          (when (seq-contains-p (plist-get answer :hunks) (stet--hunk-id hunk))
            (mapc #'delete-overlay (stet--hunk-drawn hunk))
            (setf (stet--hunk-drawn hunk) nil)))))))

(defun stet--on-line-p (hunk line)
  "Return whether HUNK, from `stet.proposals', is on the 0-based LINE."
  (let* ((range (plist-get hunk :range))
         (first (plist-get (plist-get range :start) :line))
         (end (plist-get range :end))
         (past (+ (plist-get end :line) (if (> (plist-get end :character) 0) 1 0))))
    (and (<= first line) (< line (max past (1+ first))))))

(defun stet--with-hunk (states nothing function)
  "Call FUNCTION with the hunk on this line that is in one of STATES, strings.
If there are several, ask which.  If there is none, call NOTHING, or show it if
it is a string."
  (let* ((line (1- (line-number-at-pos nil t)))
         (page (stet--page-p buffer-file-name))
         (id (and page (stet--page-hunk))))
    (stet--run
     "stet.proposals" (and (not page) (list :uri (stet--uri)))
     (lambda (hunks)
       (let ((here (seq-filter
                    (lambda (hunk)
                      (and (member (plist-get hunk :state) states)
                           (if page (equal (plist-get hunk :hunk) id)
                             (stet--on-line-p hunk line))))
                    hunks)))
         (cond ((and (null here) (functionp nothing)) (funcall nothing))
               ((null here) (message "Stet: %s" nothing))
               ((null (cdr here)) (funcall function (car here)))
               (t (funcall function
                           (stet--choose "Which hunk" here #'stet--hunk-title)))))))))

(provide 'stet-hunk)
;;; stet-hunk.el ends here
