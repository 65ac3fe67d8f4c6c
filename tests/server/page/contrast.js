pairs => {
  const paint = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const light = name => {
    paint.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(name);
    paint.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...paint.getImageData(0, 0, 1, 1).data].slice(0, 3).map(v => v / 255)
      .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  return pairs.map(([a, b]) => {
    const [x, y] = [light(a), light(b)].sort((p, q) => q - p);
    return [a, b, (x + 0.05) / (y + 0.05)];
  });
}
