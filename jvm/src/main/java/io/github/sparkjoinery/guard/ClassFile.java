package io.github.sparkjoinery.guard;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** The names in a class file, by chapter 4 of the JVM specification. */
final class ClassFile {
  private static final int UTF8 = 1;
  private static final int LONG = 5;
  private static final int DOUBLE = 6;
  private static final int CLASS = 7;

  /** The class above and the interfaces, with slashes. */
  final List<String> parents = new ArrayList<>();

  /** Fields and methods, each by its name and descriptor. */
  final Set<String> members = new HashSet<>();

  ClassFile(InputStream bytes) throws IOException {
    DataInputStream in = new DataInputStream(new BufferedInputStream(bytes));
    in.readLong(); // magic number and version
    Object[] constants = constants(in);
    in.readInt(); // access flags and this class
    parent(constants, in.readUnsignedShort());
    for (int left = in.readUnsignedShort(); left > 0; left--) parent(constants, in.readUnsignedShort());
    for (int kind = 0; kind < 2; kind++) // fields, then methods
      for (int left = in.readUnsignedShort(); left > 0; left--) {
        in.readUnsignedShort(); // access flags
        members.add((String) constants[in.readUnsignedShort()] + constants[in.readUnsignedShort()]);
        skipAttributes(in);
      }
  }

  private void parent(Object[] constants, int index) {
    if (index > 0) parents.add((String) constants[(Integer) constants[index]]);
  }

  /** Returns the texts, and for a class the number of its name. */
  private static Object[] constants(DataInputStream in) throws IOException {
    Object[] constants = new Object[in.readUnsignedShort()];
    for (int i = 1; i < constants.length; i++) {
      int tag = in.readUnsignedByte();
      if (tag == UTF8) constants[i] = in.readUTF();
      else if (tag == CLASS) constants[i] = in.readUnsignedShort();
      else skip(in, sizeOf(tag));
      if (tag == LONG || tag == DOUBLE) i++; // these take two places
    }
    return constants;
  }

  private static int sizeOf(int tag) throws IOException {
    switch (tag) {
      case LONG: case DOUBLE: return 8;
      case 8: case 16: case 19: case 20: return 2; // string, method type, module, package
      case 15: return 3; // method handle
      case 3: case 4: case 9: case 10: case 11: case 12: case 17: case 18: return 4;
      default: throw new IOException("unknown tag " + tag + " of a constant");
    }
  }

  private static void skipAttributes(DataInputStream in) throws IOException {
    for (int left = in.readUnsignedShort(); left > 0; left--) {
      in.readUnsignedShort(); // name
      skip(in, in.readInt());
    }
  }

  private static void skip(DataInputStream in, int bytes) throws IOException {
    for (int left = bytes; left > 0; ) {
      int skipped = in.skipBytes(left);
      if (skipped == 0) {
        in.readByte();
        skipped = 1;
      }
      left -= skipped;
    }
  }
}
