const SHAPES = {
  folder: 'M2.5 4.5h4l1.5 2h5.5v6h-11z',
  file: 'M4 2.5h5l3 3v8H4zM9 2.5v3h3',
  download: 'M8 3v7.5M4.5 7.5 8 11l3.5-3.5M3 13.5h10',
  upload: 'M8 11V3.5M4.5 6.5 8 3l3.5 3.5M3 13h10',
} as const

/** A small picture beside a text that says the same. */
export function Icon({ name }: { readonly name: keyof typeof SHAPES }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
      <path
        d={SHAPES[name]}
        fill="none"
        stroke="currentColor"
        stroke-width="1.25"
        stroke-linejoin="round"
        stroke-linecap="round"
      />
    </svg>
  )
}

export function Logo() {
  return (
    <svg class="logo" viewBox="0 0 32 32" width="24" height="24" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="7" />
      <path d="M8 8h3v16H8zm5 0h3v16h-3zm6.2.9 2.9-.8 4 15.4-2.9.8z" />
    </svg>
  )
}
