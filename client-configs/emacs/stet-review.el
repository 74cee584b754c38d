;;; stet-review.el --- The review page of Stet  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; A part of `stet', which loads it from its own folder: the diff of all pending hunks, in which they
;; are accepted and rejected by key or by saving it.

;;; Code:

(require 'cl-lib)
(require 'diff-mode)
(require 'eglot)
(require 'stet-server)
(require 'stet-overlays)

;;; Sections

(defun stet--page-hunk ()
  "Return the hunk at point in a review page, or nil."
  (save-excursion
    (end-of-line)
    (and (re-search-backward "^@@ [^@]* @@ \\([[:alnum:]]+\\)" nil t)
         (match-string-no-properties 1))))

(defun stet--section-end ()
  "Return the end of the section of a review page whose first line is at point."
  (save-excursion
    (forward-line)
    (if (re-search-forward "^\\(?:@@\\|diff\\) " nil t) (pos-bol) (point-max))))

(defun stet--show-section ()
  "Scroll so that the section at point is visible."
  (let ((end (stet--section-end)))
    (unless (pos-visible-in-window-p (max (point) (1- end)))
      (recenter (max 1 (- (window-body-height) (count-screen-lines (pos-bol) end) 1))))))

(defun stet--mark-sections (page states)
  "Show in PAGE the states of its decided hunks; STATES maps hunk ids to states."
  (with-current-buffer page
    (save-excursion
      (save-restriction
        (widen)
        (remove-overlays (point-min) (point-max) 'stet-section t)
        (goto-char (point-min))
        (let ((left 0))
          (while (re-search-forward "^@@ [^@\n]* @@ \\([[:alnum:]]+\\)" nil t)
            (let ((state (gethash (match-string-no-properties 1) states))
                  (head (pos-eol)))
              (if (member state '("pending" "conflict")) (cl-incf left)
                (when state
                  (stet--overlay (pos-bol) (stet--section-end) 'face 'stet-note 'stet-section t)
                  (stet--overlay head head 'stet-section t
                                 'after-string (propertize (concat "  " state) 'face 'bold))))))
          (goto-char (point-min))
          (when (re-search-forward "\\=# Stet review [^\n]*: \\([0-9]+ hunks? left\\)$" nil t)
            (stet--overlay (match-beginning 1) (match-end 1) 'stet-section t
                           'display (format "%d hunk%s left" left (if (= left 1) "" "s")))))))))

(defun stet--update-reviews (server)
  "Request the states of all hunks from SERVER, and show them in review pages."
  (when-let* ((pages (seq-filter (lambda (buffer)
                                   (with-current-buffer buffer
                                     (and (derived-mode-p 'diff-mode)
                                          (stet--page-p buffer-file-name))))
                                 (buffer-list))))
    (jsonrpc-async-request
     server :workspace/executeCommand '(:command "stet.proposals" :arguments [])
     :success-fn
     (lambda (hunks)
       (let ((states (make-hash-table :test #'equal)))
         (seq-doseq (hunk hunks)
           (puthash (plist-get hunk :hunk) (plist-get hunk :state) states))
         (dolist (page pages)
           (when (buffer-live-p page) (stet--mark-sections page states)))))
     :error-fn #'ignore)))

;;; The mode

(defvar-keymap stet-review-mode-map
  :doc "Keymap of review pages, over those of Diff mode that would change files."
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
  "Accept hunks of a review page with \\[stet-accept], reject them with \\[stet-reject]."
  :lighter nil
  (setq header-line-format
        '((:eval (stet--review-header)))))

(defun stet--review-header ()
  "Return the header line: the number of hunks left, and the keys."
  (let* ((status (stet--status (stet--server)))
         (left (+ (or (plist-get status :pending) 0) (or (plist-get status :conflicts) 0))))
    (substitute-command-keys
     (format "%d left   \\[stet-accept] accept  \\[stet-reject] reject  \\[stet-next] next  \
\\[stet-save-review] accept what stays" left))))

(provide 'stet-review)
;;; stet-review.el ends here
