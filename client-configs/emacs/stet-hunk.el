;;; stet-hunk.el --- The hunk at point, and where you are, for Stet  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; A part of `stet', which loads it from its own folder: shows and finds the hunk at point, and tells
;; Stet where you are.

;;; Code:

(require 'cl-lib)
(require 'diff-mode)
(require 'eglot)
(require 'flymake)
(require 'stet-server)

(defface stet-added '((t :inherit diff-added))
  "Lines that a hunk would write, below those they would replace.")

(defface stet-removed '((t :inherit diff-removed))
  "Lines that a hunk would take away.")

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

(provide 'stet-hunk)
;;; stet-hunk.el ends here
