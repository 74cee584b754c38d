;;; stet-overlays.el --- Hunks drawn in the text  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; A part of `stet', which loads it from its own folder: draws a pending hunk with overlays.  Removed
;; lines are coloured where they are; added lines appear where they would go, with the colours of the
;; buffer's major mode.  Signs in the fringe, or in the margin of a terminal, show the same without
;; colour.  The text itself is never changed.

;;; Code:

(require 'cl-lib)
(require 'diff-mode)
(require 'eglot)
(require 'stet-server)

(defun stet--face (plain colours)
  "Return a face spec with PLAIN and COLOURS, two plists of attributes.
Emacs itself ignores NO_COLOR; with it, the spec is PLAIN alone."
  `((t ,@plain ,@(and (member (getenv "NO_COLOR") '(nil "")) colours))))

(defconst stet--word
  (if (member (getenv "NO_COLOR") '(nil "")) '(:weight bold) '(:weight bold :inverse-video t))
  "Attributes of changed words, besides their colours.")

(defface stet-added (stet--face '(:extend t) '(:inherit diff-added))
  "Lines that a hunk adds.")

(defface stet-removed (stet--face '(:extend t) '(:inherit diff-removed))
  "Lines that a hunk removes.")

(defface stet-yours (stet--face '(:extend t) '(:inherit diff-changed))
  "Your own lines in a conflict.")

(defface stet-added-word (stet--face stet--word '(:inherit diff-refine-added))
  "Changed words in added lines.")

(defface stet-removed-word (stet--face stet--word '(:inherit diff-refine-removed))
  "Changed words in removed lines.")

(defface stet-added-sign (stet--face nil '(:inherit diff-indicator-added))
  "The sign of added lines.")

(defface stet-removed-sign (stet--face nil '(:inherit diff-indicator-removed))
  "The sign of removed lines.")

(defface stet-changed-sign (stet--face nil '(:inherit diff-indicator-changed))
  "The sign of lines that a hunk replaces.")

(defface stet-conflict '((t :inherit warning))
  "Sign and heading of a conflict.")

(defface stet-note '((t :inherit shadow))
  "Notes and headings of hunks.")

(defcustom stet-hunk-style 'in-place
  "How pending hunks are drawn.
With `in-place', removed and added lines are shown in the text; with `compact',
each hunk is one line such as `+3 -1 summary'; with nil, only a sign is shown."
  :type '(choice (const in-place) (const compact) (const :tag "Signs only" nil))
  :group 'stet)

(defcustom stet-added-lines-limit 24
  "The maximum number of added lines of a hunk that are drawn.
Emacs can't scroll within them, so a small window shows fewer."
  :type 'natnum
  :group 'stet)

;;; Signs

(defconst stet--signs
  '((?+ stet-added-sign stet-plus) (?- stet-removed-sign stet-minus)
    (?~ stet-changed-sign stet-tilde) (?! stet-conflict stet-bang))
  "Signs: (CHARACTER FACE BITMAP).")

(when (fboundp 'define-fringe-bitmap)
  (define-fringe-bitmap 'stet-plus [0 24 24 126 126 24 24 0])
  (define-fringe-bitmap 'stet-minus [0 0 0 126 126 0 0 0])
  (define-fringe-bitmap 'stet-tilde [0 0 50 126 76 0 0 0])
  (define-fringe-bitmap 'stet-bang [24 24 24 24 24 0 24 24]))

(defun stet--sign (character)
  "Return a string to display the sign CHARACTER beside its line."
  (pcase-let ((`(,face ,bitmap) (alist-get character stet--signs)))
    (propertize " " 'display (if (display-graphic-p)
                                 `(left-fringe ,bitmap ,face)
                               `((margin left-margin)
                                 ;; The margin has the background of the page.
                                 ,(propertize
                                   (string character)
                                   'face (list (list :background (face-background 'default nil t))
                                               face 'default)))))))

(defun stet--ensure-margin ()
  "Make room for signs in the windows of this buffer in a terminal."
  (unless (or (display-graphic-p) (> (or left-margin-width 0) 0))
    (setq-local left-margin-width 2)
    (dolist (window (get-buffer-window-list nil nil t))
      (set-window-buffer window (current-buffer)))))

;;; Added lines

(defconst stet--fontify-limit 20000
  "The maximum size, in characters, of added text that is fontified.")

(defun stet--work-buffer (mode)
  "Return a hidden buffer in MODE; no hooks and file variables apply in it."
  (let ((name (format " *stet %s*" mode)))
    (or (get-buffer name)
        (with-current-buffer (get-buffer-create name t)
          (let ((inhibit-message t)
                message-log-max
                enable-local-variables enable-local-eval enable-dir-local-variables)
            (delay-mode-hooks
              (condition-case nil (funcall mode) (error (fundamental-mode)))))
          (buffer-disable-undo)
          (current-buffer)))))

(defun stet--faced (start end)
  "Return the text from START to END with no properties but its faces."
  (let ((text (buffer-substring-no-properties start end)) (at start))
    (while (< at end)
      (let ((next (next-single-property-change at 'face nil end))
            (face (get-text-property at 'face)))
        (when face (put-text-property (- at start) (- next start) 'face face text))
        (setq at next)))
    text))

(defun stet--added-line (line)
  "Return the string that draws the added LINE, which is at point."
  (let* ((start (point)) (end (pos-eol))
         (text (stet--faced start end))
         (offsets (lambda (span)
                    (mapcar (lambda (column)
                              (goto-char start)
                              (funcall eglot-move-to-linepos-function column)
                              (- (point) start))
                            span)))
         (spans (mapcar offsets (plist-get line :spans)))
         (excerpts (mapcar offsets (plist-get line :excerpt))))
    (add-face-text-property 0 (length text) 'stet-added t text)
    (pcase-dolist (`(,from ,to) spans)
      (add-face-text-property from to 'stet-added-word nil text))
    (when excerpts
      (let ((gap (propertize "…" 'face '(stet-note stet-added)))
            (space (propertize " " 'face 'stet-added)))
        (setq text (concat
                    (and (> (caar excerpts) 0) (concat gap space))
                    (mapconcat (lambda (part) (string-trim (substring text (car part) (cadr part))))
                               excerpts (concat space gap space))
                    (and (< (cadar (last excerpts)) (- end start)) (concat space gap))))))
    (goto-char end)
    (concat (stet--sign ?+) text (propertize "\n" 'face 'stet-added))))

(defun stet--added-lines-limit ()
  "Return the maximum number of added lines drawn in a window of this buffer."
  (let ((window (or (get-buffer-window nil t) (selected-window))))
    (min stet-added-lines-limit (max 1 (- (window-body-height window) 4)))))

(defun stet--added-text (lines)
  "Return the string that draws the added LINES, up to the limit."
  (let* ((drawn (take (stet--added-lines-limit) lines))
         (more (- (length lines) (length drawn)))
         (text (mapconcat (lambda (line) (plist-get line :text)) drawn "\n"))
         (move eglot-move-to-linepos-function)
         (width tab-width))
    (with-current-buffer (stet--work-buffer major-mode)
      (let ((inhibit-read-only t) (inhibit-modification-hooks nil))
        (erase-buffer)
        (insert text)
        (setq tab-width width)
        (setq-local eglot-move-to-linepos-function move)
        (when (and (< (length text) stet--fontify-limit) (>= (display-color-cells) 88))
          (ignore-errors
            (font-lock-set-defaults)
            (font-lock-fontify-region (point-min) (point-max))))
        (goto-char (point-min))
        (concat (mapconcat (lambda (line) (prog1 (stet--added-line line) (forward-line))) drawn)
                (and (> more 0)
                     (propertize (format "… %d more lines\n" more)
                                 'face '(stet-note stet-added))))))))

;;; Overlays

(defun stet--overlay (start end &rest properties)
  "Return an overlay from START to END with PROPERTIES."
  (let ((overlay (make-overlay start end nil t)))
    (while properties (overlay-put overlay (pop properties) (pop properties)))
    overlay))

(defun stet--goto-line (line)
  "Go to the 0-based LINE and return t, or to the end and return nil."
  (goto-char (point-min))
  (and (zerop (forward-line line)) (bolp)))

(defun stet--overlay-above (line text)
  "Return an overlay with TEXT above the 0-based LINE, or at the end."
  (cond ((not (stet--goto-line line))
         (stet--overlay (point-max) (point-max)
                        'after-string (concat "\n" (string-remove-suffix "\n" text))))
        ((bobp) (stet--overlay (point) (point) 'before-string text))
        (t (stet--overlay (1- (point)) (point) 'after-string text))))

(defun stet--overlays-removed (line)
  "Draw the removed LINE of the buffer; return its overlays."
  (when (stet--goto-line (plist-get line :line))
    (let* ((start (point)) (end (min (point-max) (1+ (pos-eol))))
           (at (lambda (span)
                 (mapcar (lambda (column)
                           (goto-char start)
                           (funcall eglot-move-to-linepos-function column)
                           (point))
                         span)))
           (excerpts (mapcar at (plist-get line :excerpt))))
      (append
       (list (stet--overlay start start 'before-string (stet--sign ?-)))
       (mapcar (pcase-lambda (`(,from ,to))
                 (stet--overlay from to 'evaporate t
                                'face (if excerpts '(:extend nil :inherit stet-removed)
                                        'stet-removed)))
               (or excerpts (list (list start end))))
       (mapcar (lambda (span)
                 (pcase-let ((`(,from ,to) (funcall at span)))
                   (stet--overlay from to 'face 'stet-removed-word 'priority 5 'evaporate t)))
               (plist-get line :spans))))))

(defun stet--overlays-yours (line)
  "Show LINE, from `stet.proposals', as yours in a conflict; return the overlays."
  (when (stet--goto-line (plist-get line :line))
    (let ((start (point)))
      (list (stet--overlay start start 'before-string (stet--sign ?!))
            (stet--overlay start (min (point-max) (1+ (pos-eol)))
                           'evaporate t 'face 'stet-yours)))))

(defconst stet--count-from 10
  "The minimum number of removed lines whose number is shown.")

(defun stet--overlays-count (lines)
  "Show the number of the removed LINES beside the first; return the overlays."
  (when (and (length> lines (1- stet--count-from))
             (stet--goto-line (plist-get (car lines) :line)))
    (let ((text (propertize (format "  -%d lines" (length lines))
                            'face '(stet-note stet-removed))))
      ;; Keep the cursor before the string at the end of the line.
      (put-text-property 0 1 'cursor t text)
      (list (stet--overlay (pos-eol) (pos-eol) 'after-string text)))))

(defun stet--lines (hunk op)
  "Return the lines of HUNK, from `stet.proposals', whose operation is OP."
  (cl-loop for line across (plist-get (plist-get hunk :display) :lines)
           when (equal (plist-get line :op) op) collect line))

(defun stet--hunk-sign (hunk)
  "Return the sign, a character, of HUNK as a whole."
  (cond ((equal (plist-get hunk :state) "conflict") ?!)
        ((null (stet--lines hunk "delete")) ?+)
        ((null (stet--lines hunk "insert")) ?-)
        (t ?~)))

(defun stet--counts (hunk)
  "Return the numbers of added and removed lines of HUNK, such as `+3 -1'."
  (let ((added (length (stet--lines hunk "insert")))
        (removed (length (stet--lines hunk "delete"))))
    (concat (propertize (format "+%d" added) 'face 'stet-added-sign) " "
            (propertize (format "-%d" removed) 'face 'stet-removed-sign))))

(defun stet--heading (hunk)
  "Return the heading of HUNK, or nil if its lines are enough."
  (let* ((conflict (equal (plist-get hunk :state) "conflict"))
         (says (pcase (plist-get hunk :kind)
                 ((guard conflict) (concat "Conflict, you edited this text: "
                                           (plist-get hunk :summary)))
                 ("create" "New file")
                 ("remove" "Delete this file")
                 ("move" (concat "Move to "
                                 (file-name-nondirectory
                                  (eglot-uri-to-path (plist-get hunk :newUri))))))))
    (when says
      (concat (if conflict (stet--sign ?!) "")
              (propertize (concat says "\n")
                          'face (if conflict 'stet-conflict 'stet-note))))))

(defun stet--draw-in-place (hunk start)
  "Draw HUNK as lines, with a heading above START; return the overlays."
  (let ((groups (seq-group-by (lambda (line) (plist-get line :line)) (stet--lines hunk "insert")))
        (removed (stet--lines hunk "delete"))
        (conflict (equal (plist-get hunk :state) "conflict"))
        (heading (stet--heading hunk)))
    (append
     (and heading (list (stet--overlay-above (1- (line-number-at-pos start t)) heading)))
     (mapcan (if conflict #'stet--overlays-yours #'stet--overlays-removed) removed)
     (and (not conflict) (stet--overlays-count removed))
     (mapcar (pcase-lambda (`(,line . ,lines)) (stet--overlay-above line (stet--added-text lines)))
             groups))))

(defun stet--draw-compact (hunk start)
  "Draw HUNK at the end of the line at START; return the overlays."
  (goto-char start)
  (let ((text (concat "  " (stet--counts hunk) " "
                      (propertize (plist-get hunk :summary) 'face 'stet-note))))
    ;; Keep the cursor before the string at the end of the line.
    (put-text-property 0 1 'cursor t text)
    (list (stet--overlay (pos-eol) (pos-eol) 'after-string text))))

(defun stet--draw-hunk (hunk start)
  "Draw HUNK, from `stet.proposals', at START; return the overlays."
  (save-excursion
    (save-restriction
      (widen)
      (stet--ensure-margin)
      (if (eq stet-hunk-style 'in-place)
          (stet--draw-in-place hunk start)
        (goto-char start)
        (cons (stet--overlay (pos-bol) (pos-bol)
                             'before-string (stet--sign (stet--hunk-sign hunk)))
              (and stet-hunk-style (stet--draw-compact hunk start)))))))

(defun stet--hunk-height (hunk)
  "Return the approximate height of HUNK in the selected window, in lines."
  (let ((width (max 1 (window-max-chars-per-line)))
        (added (stet--lines hunk "insert")))
    (cl-loop for line in (append (stet--lines hunk "delete")
                                 (take (1+ (stet--added-lines-limit)) added))
             sum (1+ (/ (string-width (plist-get line :text)) width)))))

(provide 'stet-overlays)
;;; stet-overlays.el ends here
