import sharp from 'sharp'
import { expect, it } from 'vitest'
import { pictureOf } from '../../../src/embedded/ingest/readers/ocr.ts'

const SIDE = 100
/** A bar in the middle of nothing. */
const bar = async (grey: number) =>
  await sharp({ create: { width: SIDE, height: SIDE, channels: 4, background: '#0000' } })
    .composite([
      { input: { create: { width: 50, height: 20, channels: 3, background: { r: grey, g: grey, b: grey } } } },
    ])
    .png()
    .toBuffer()

it.each([
  ['dark', 20],
  ['light', 240],
])('%s signs on a transparent ground are dark on white', async (_, grey) => {
  const { data, width, height } = await pictureOf(await bar(grey), 0)
  expect(data[0]).toBe(255)
  expect(data[(height / 2) * width + width / 2]).toBeLessThan(50)
})

it('of a cut picture what is left is seen, and that it is cut', async () => {
  const noise = Buffer.from(Array.from({ length: SIDE * SIDE }, (_, index) => (index * 7919) % 256))
  const whole = await sharp(noise, { raw: { width: SIDE, height: SIDE, channels: 1 } })
    .jpeg()
    .toBuffer()
  expect((await pictureOf(whole, 0)).isCut).toBe(false)
  expect(await pictureOf(whole.subarray(0, whole.length / 2), 0)).toMatchObject({ isCut: true, width: 2 * SIDE })
  await expect(pictureOf(whole.subarray(0, 10), 0)).rejects.toThrow(/damaged/)
})
