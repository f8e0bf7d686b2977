const paths = {
  check: '<path d="M7 12.5l3.4 3.4L17 9"/>',
  clock: '<path d="M12 7v5.5l3.4 2"/>',
  cross: '<path d="M8.5 8.5l7 7m0-7l-7 7"/>',
  return: '<path d="M9.5 8L6.5 11l3 3M7 11h6.5a3.2 3.2 0 010 6.4H11"/>',
  alert: '<path d="M12 7.2v6m0 3.2v.2"/>',
  shield: '<path d="M12 6.2l4.6 1.7v4c0 2.9-1.9 4.9-4.6 5.9-2.7-1-4.6-3-4.6-5.9v-4zM10 12l1.5 1.5 2.6-2.8"/>',
} as const;

/** A sign in a circle, which says nothing that the words beside it do not say. */
export function icon(name: keyof typeof paths): string {
  return `<svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false"><circle cx="12" cy="12" r="11"/>${paths[name]}</svg>`;
}
