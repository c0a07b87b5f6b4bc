import type { Sharp } from 'sharp'
import { messageOf } from '../../../../foundation/errors.ts'
import type { Picture } from '../recognize/recognizer.ts'

export const MAX_PIXELS = 100e6

/** A page of A4 at 200 dots per inch; more costs time and finds no more words. */
export const PAGE_SIDE = 2_339
/** Letters of smaller pictures are recognized better at twice their size. */
const SMALL_SIDE = 1_000

/** Loads sharp with the first picture, for one thread and without a cache. */
export async function loadSharp() {
  const { default: sharp } = await import('sharp')
  sharp.concurrency(1)
  sharp.cache(false)
  return sharp
}

/** One page of a picture as it is seen, in grey on white, in a size that is good to recognize; throws when it is broken. */
export async function pictureOf(bytes: Buffer, page: number): Promise<Picture> {
  const sharp = await loadSharp()
  const open = () => sharp(bytes, { limitInputPixels: MAX_PIXELS, sequentialRead: true, page })
  try {
    const { autoOrient } = await open().metadata()
    const longer = Math.max(autoOrient.width, autoOrient.height)
    const side = longer < SMALL_SIDE ? longer * 2 : Math.min(longer, PAGE_SIDE)
    const resized = open().autoOrient().flatten({ background: '#fff' }).resize(side, side, { fit: 'inside' })
    return await asPicture(resized)
  } catch (error) {
    throw new Error(`The picture is damaged (${messageOf(error)})`, { cause: error })
  }
}

/** A drawn page, one byte for each pixel, as a picture. */
export async function greyPicture(image: { width: number; height: number; data: Uint8Array }): Promise<Picture> {
  const sharp = await loadSharp()
  return await asPicture(sharp(image.data, { raw: { width: image.width, height: image.height, channels: 1 } }))
}

async function asPicture(image: Sharp): Promise<Picture> {
  const { data, info } = await image.greyscale().png({ compressionLevel: 1 }).toBuffer({ resolveWithObject: true })
  return { png: data, width: info.width, height: info.height }
}
