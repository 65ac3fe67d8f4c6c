"""What the views of the page ask for beside questions: health, images, and what awaits a review."""
