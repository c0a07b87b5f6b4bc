/** Debian packages that hold documents: manuals, templates, samples of fonts, data of tests. */
export const PACKAGES: readonly string[] = [
  ...[
    'debian-refcard',
    'debian-policy',
    'developers-reference',
    'debmake-doc',
    'debian-faq',
    'maint-guide',
    'gnuplot-doc',
  ],
  ...['fonts-sil-gentium', 'fonts-sil-padauk', 'fonts-sil-andika', 'fonts-sil-scheherazade', 'fonts-sil-abyssinica'],
  ...['fonts-sil-ezra', 'fonts-sil-charis', 'fonts-sil-doulos'],
  ...[
    'r-cran-readxl',
    'r-cran-openxlsx',
    'r-cran-officer',
    'r-cran-rio',
    'python3-docx',
    'pandoc-data',
    'python-odf-doc',
  ],
  ...['libreoffice-common', 'libpython3.11-testsuite', 'inkscape-tutorials', 'doc-debian'],
  ...['manpages-ja', 'manpages-zh', 'manpages-ru', 'fortunes-ru', 'fortunes-de'],
]

/** Files of one kind, and how many a package gives at most. */
export interface Kind {
  readonly name: string
  /** Matches paths in a package, without `.gz`. */
  readonly files: RegExp
  readonly most: number
  /** The extension they get where their own says nothing. */
  readonly extension?: string
  /** The state in which their ingestion must end, where it is not a searchable one. */
  readonly ends?: 'partial' | 'failed'
}

export const KINDS: readonly Kind[] = [
  { name: 'PDF', files: /\.pdf$/, most: 40 },
  { name: 'Word', files: /\.docx$/, most: 10 },
  { name: 'PowerPoint', files: /\.pptx$/, most: 10 },
  { name: 'Excel', files: /\.xlsx$/, most: 15 },
  { name: 'OpenDocument', files: /\.(?:odt|ott|ods|ots|odp|otp)$/, most: 45 },
  { name: 'EPUB', files: /\.epub$/, most: 10 },
  { name: 'RTF', files: /\.rtf$/, most: 10 },
  { name: 'e-mail', files: /test_email\/data\/msg_(?!18|19|3[789]|40)\d+\.txt$/, most: 40, extension: 'eml' },
  // Messages without sender, receiver, subject and date, which is what every reader of mail goes by.
  {
    name: 'no e-mail',
    files: /test_email\/data\/msg_(?:18|19|3[789]|40)\.txt$/,
    most: 6,
    extension: 'eml',
    ends: 'failed',
  },
  { name: 'text in other encodings', files: /cjkencodings\/.*\.txt$/, most: 40 },
  { name: 'HTML', files: /\.html$/, most: 12 },
  { name: 'manual pages', files: /\/man\/.*\/man\d\/[^/]+\.\d$/, most: 15, extension: 'man' },
  { name: 'verses and sayings', files: /fortunes\/[^/.]+$/, most: 15, extension: 'txt' },
  { name: 'plain text', files: /\/doc\/.*\.(?:txt|md|rst)$/, most: 15 },
  { name: 'programs and tables', files: /\.(?:csv|tsv|py|sql|R|xml|json|ya?ml)$/, most: 12 },
  { name: 'pictures', files: /\.(?:png|jpe?g|gif|bmp|tiff|webp)$/, most: 6 },
  { name: 'sound', files: /\.(?:wav|au|aiff)$/, most: 6 },
  { name: 'archives and fonts', files: /\.(?:zip|ttf|woff2?|mo)$/, most: 4 },
  { name: 'formats that nothing reads', files: /\.(?:xls|doc|ppt|ps)$/, most: 6, ends: 'partial' },
]
