import { describe, expect, test } from 'vitest'
import { createRootScope } from '../../../src/local/ignore/ignore-scope.ts'

const words = (text: string) => text.trim().split(/\s+/)

describe('the built-in ignore rules', () => {
  const rules = createRootScope({ ignore: [], include: [] })

  test.each(
    words(`
      letter.docx~ .#notes.md #notes.md# .notes.md.swp ~$report.docx .~lock.report.odt# x.tmp film.mkv.part
      a.crdownload .DS_Store ._a.pdf Thumbs.db desktop.ini .nfs0000000a .git .sync_4f2.db-wal
      deep/er/.shelfdignore .dropbox.cache .goutputstream-AB12CD report.docx.sb-1a2b3c4d-XyZ012 film.mkv.!qB
      film.mkv.!sync film.f137.mp4.part-Frag3 film.mp4.ytdl .com.google.Chrome.AbCdEf .Report.pdf.icloud
      Report.pdf.nextcloud Minutes.gdoc
    `),
  )('the litter %s is ignored', (path) => {
    expect(rules.decide(path, false)).toMatchObject({ source: 'built-in', line: null, secret: false })
  })

  test.each([
    '.git',
    'a/node_modules',
    '@eaDir',
    '$RECYCLE.BIN',
    'lost+found',
    '.Trash-1000',
    'src/CVS',
    '.stversions',
    '#recycle',
    'share/@Recycle',
    '.recycle',
    '@Recently-Snapshot',
    '.snapshot',
    '.snapshots',
    '~snapshot',
    '#snapshot',
    '.zfs',
    '.@__thumb',
    'Network Trash Folder',
  ])('the directory %s is ignored', (path) => {
    expect(rules.decide(path, true)).toMatchObject({ secret: false })
  })

  test.each(
    words(`
      recycle.md #recycle-plan.md snapshot.pdf icloud.md my.icloud part-Frag.md Chrome.md C#.md
    `),
  )('the document %s is not taken for litter', (path) => {
    expect(rules.decide(path, false)).toBeUndefined()
  })

  test.each(
    words(`
      .env .env.local app/.env.production id_rsa keys/deploy_ed25519 server.key tls/privkey1.pem
      home/.aws/credentials .docker/config.json me.kdbx .netrc .git-credentials client_secret_1.json
      .config/shelfd/token .config/shelfd/ledger-password .config/shelfd/client-passphrase
      .config/shelfd/embedding-key home/.config/shelfd/config.yaml
    `),
  )('the secret %s is ignored and flagged', (path) => {
    expect(rules.decide(path, false)).toMatchObject({ secret: true })
  })

  test.each(
    words(`
      README.md .env.example .gitignore .github keyboard.pem.md ca.pem config id_rsa.pub CVS.txt monkey.txt
      environment part tmp config.json Trash a/credentials
    `),
  )('the ordinary file %s is not ignored', (path) => {
    expect(rules.decide(path, false)).toBeUndefined()
  })

  test.each([
    ['/home/ada/.aws', 'credentials'],
    ['/home/ada/.config', 'gh/hosts.yml'],
    ['/home/ada/.config/shelfd', 'token'],
    ['/home/ada/.config', 'shelfd/token'],
    ['/srv/x/.kube', 'config'],
  ])('a mirror of %s leaves out %s as one of the home does', (root, path) => {
    expect(createRootScope({ ignore: [], include: [] }, root).decide(path, false)).toMatchObject({ secret: true })
    const own = createRootScope({ ignore: [`!${path}`], include: [] }, root)
    expect(own.decide(path, false), 'rules of the user are relative to the mirror').toBeUndefined()
    const elsewhere = createRootScope({ ignore: [root.slice(1)], include: [] }, `${root}-copy`)
    expect(elsewhere.decide(path, false)).toBeUndefined()
  })

  test('a configured negation outweighs built-in rules', () => {
    const own = createRootScope({ ignore: ['!*.tmp', '!.env'], include: [] })
    expect(own.decide('a.tmp', false)).toBeUndefined()
    expect(own.decide('.env', false)).toBeUndefined()
    expect(own.decide('a.swp', false)).toBeDefined()
  })
})

describe('rules of the user', () => {
  test('a decision names its file and line', () => {
    const scope = createRootScope({ ignore: [], include: [] }).enter(
      'a/b',
      () => '# drafts\n\n*.draft\r\n!good.draft\n',
    )
    expect(scope.decide('a/b/x.draft', false)).toEqual({
      pattern: '*.draft',
      source: 'a/b/.shelfdignore',
      line: 3,
      secret: false,
    })
    expect(scope.decide('a/b/good.draft', false)).toBeUndefined()
  })

  test('an anchored pattern applies to its directory only', () => {
    const scope = createRootScope({ ignore: ['/top.md'], include: [] })
      .enter('sub', () => '/top.txt')
      .enter('sub/deep', () => undefined)
    expect(scope.decide('sub/top.txt', false)).toBeDefined()
    expect(scope.decide('sub/deep/top.txt', false)).toBeUndefined()
    expect(scope.decide('sub/top.md', false)).toBeUndefined()
  })

  test('a deeper ignore file outweighs a higher one', () => {
    const root = createRootScope({ ignore: ['build/', '*.log'], include: [] })
    const scope = root.enter('sub', () => '!build/').enter('sub/build', () => undefined)
    expect(root.decide('build', true)).toMatchObject({ source: 'configuration' })
    expect(scope.decide('sub/build', true)).toBeUndefined()
    expect(scope.decide('sub/build/x', false)).toBeUndefined()
    expect(scope.decide('sub/build/x.log', false)).toBeDefined()
  })

  test('a rule for a parent does not decide its files', () => {
    const root = createRootScope({ ignore: ['sub/build', '*.log'], include: [] })
    const scope = root.enter('sub', () => '!/buil*').enter('sub/build', () => undefined)
    expect(scope.decide('sub/build/build', false)).toBeUndefined()
    expect(scope.decide('sub/build/build.log', false)?.pattern).toBe('*.log')
  })

  test('a byte order mark and blank patterns are skipped', () => {
    const scope = createRootScope({ ignore: [], include: [] }).enter('', () => '\ufeff*.one\n   \n!\n#x\n\\#y')
    expect(scope.decide('a.one', false)).toBeDefined()
    expect(scope.decide('#x', false)).toBeUndefined()
    expect(scope.decide('#y', false)).toBeDefined()
  })

  test('a directory without rules keeps the scope above', () => {
    const scope = createRootScope({ ignore: ['*.x'], include: [] })
    expect(scope.enter('a', () => undefined)).toBe(scope)
    expect(scope.enter('a', () => '# nothing')).toBe(scope)
  })

  test('names with newlines match like any others', () => {
    const scope = createRootScope({ ignore: ['*.old', 'a?b'], include: [] })
    expect(scope.decide('two\nlines.old', false)).toBeDefined()
    expect(scope.decide('a\nb', false)).toBeDefined()
  })
})
