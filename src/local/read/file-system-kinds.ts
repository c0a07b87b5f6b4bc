export interface FileSystemKind {
  readonly name: string
  /** True if only this kernel changes it, so that inotify reports every change. */
  readonly isLocal: boolean
  /** True if it records when a file was created; others, such as exFAT, return the time of the mount. */
  readonly recordsBirth: boolean
  /** True if its size is that of its device or image, which changes only when a person changes it. */
  readonly hasFixedSize: boolean
}

/** A tmpfs belongs here as well, because it creates its root at each mount. */
const RECORDING_BIRTH: ReadonlySet<string> = new Set(['ext4', 'xfs', 'btrfs', 'f2fs', 'zfs', 'bcachefs', 'tmpfs'])
const OF_FIXED_SIZE: ReadonlySet<string> = new Set([
  'vfat',
  'exfat',
  'ntfs3',
  'ntfs',
  'hfs+',
  'udf',
  'iso9660',
  'squashfs',
  'erofs',
])

const LOCAL = {
  ext4: 0xef53,
  xfs: 0x58465342,
  btrfs: 0x9123683e,
  tmpfs: 0x01021994,
  ramfs: 0x858458f6,
  zfs: 0x2fc12fc1,
  overlayfs: 0x794c7630,
  f2fs: 0xf2f52010,
  bcachefs: 0xca451a4e,
  jfs: 0x3153464a,
  reiserfs: 0x52654973,
  nilfs: 0x3434,
  ecryptfs: 0xf15f,
  vfat: 0x4d44,
  exfat: 0x2011bab0,
  ntfs3: 0x7366746e,
  ntfs: 0x5346544e,
  'hfs+': 0x482b,
  udf: 0x15013346,
  iso9660: 0x9660,
  squashfs: 0x73717368,
  erofs: 0xe0f5e1e2,
}

/** Network file systems, FUSE and directories of a virtual machine's host: others can change them without an event. */
const SHARED = {
  nfs: 0x6969,
  smb: 0x517b,
  cifs: 0xff534d42,
  smb2: 0xfe534d42,
  fuse: 0x65735546,
  '9p': 0x01021997,
  afs: 0x5346414f,
  kafs: 0x6b414653,
  coda: 0x73757245,
  ceph: 0x00c36400,
  lustre: 0x0bd00bd0,
  gpfs: 0x47504653,
  beegfs: 0x19830326,
  orangefs: 0x20030528,
  panfs: 0xaad7aaea,
  gfs2: 0x01161970,
  ocfs2: 0x7461636f,
  vboxsf: 0x786f4256,
  vmhgfs: 0xbacbacbc,
  prl_fs: 0x7c7c6673,
}

/** Maps the magic number, which is `type` of `statfs` as an unsigned number, to the kind. */
export const FILE_SYSTEMS: ReadonlyMap<number, FileSystemKind> = new Map([
  ...kindsOf(LOCAL, true),
  ...kindsOf(SHARED, false),
])

function kindsOf(magics: Readonly<Record<string, number>>, isLocal: boolean): [number, FileSystemKind][] {
  return Object.entries(magics).map(([name, magic]) => [
    magic,
    { name, isLocal, recordsBirth: RECORDING_BIRTH.has(name), hasFixedSize: OF_FIXED_SIZE.has(name) },
  ])
}
