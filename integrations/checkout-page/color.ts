/** Contrast of two colours (`#rrggbb`), 1 to 21, as WCAG computes it. */
export function contrast(first: string, second: string): number {
  const [light = 0, dark = 0] = [luminance(first), luminance(second)].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

/** Black or white, whichever is easier to read on the colour: at least 4.5 to 1 on any. */
export function textOn(ground: string): string {
  return contrast(ground, '#ffffff') >= contrast(ground, '#000000') ? '#ffffff' : '#000000';
}

const visible = 3;
const steps = 10;

/** The colour, or the nearest to it on the way to white or black that can be told from the ground: 3 to 1, as WCAG asks of controls. */
export function visibleOn(color: string, ground: string): string {
  const end = textOn(ground);
  for (let step = 0; step < steps; step += 1) {
    const mixed = mix(color, end, step / steps);
    if (contrast(mixed, ground) >= visible) return mixed;
  }
  return end;
}

function mix(from: string, to: string, share: number): string {
  const other = channels(to);
  const mixed = channels(from).map((value, index) => Math.round(value + ((other[index] ?? 0) - value) * share));
  return `#${mixed.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
}

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = channels(color).map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function channels(color: string): number[] {
  return [1, 3, 5].map((start) => Number.parseInt(color.slice(start, start + 2), 16));
}
