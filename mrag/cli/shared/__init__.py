"""What the commands share: options, output, spinners and bars, stopping, and how concepts are printed."""
